/* Memory that runs short when a test says so. It replaces malloc() for the whole program, or the
 * C++ operator new where a sanitizer needs malloc() for itself. */
#ifndef LOCKC_TESTS_SHORT_MEMORY_H
#define LOCKC_TESTS_SHORT_MEMORY_H

#ifdef __cplusplus
extern "C" {
#endif

/* From now on the n-th request for memory fails, in whatever thread, and all that follow as well if
 * `for_good`. n counts from 1. */
void memory_fails(long n, int for_good);
/* All is well again. Returns how many requests failed. */
long memory_recovers(void);

#ifdef __cplusplus
}
#endif
#endif
