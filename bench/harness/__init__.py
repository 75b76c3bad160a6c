"""Runs lock workloads against a private server and compares targets round by round."""
