"""Locks in the shapes of other libraries, for services that switch by changing an import."""
