/* Links liblockc.a and a hiredis of its own, which must not be the one inside lockc. */
#include <lockc/lockc.h>
#include <stdio.h>

/* Stands for another version of hiredis: lockc would crash if it called this one. */
void *redisReaderCreate(void) { return NULL; }

int main(void) {
  lockc_client *client = NULL;
  lockc_status status = lockc_client_open(&client, NULL, NULL, NULL);
  if (status == LOCKC_OK) status = lockc_client_connect(client, 2000, NULL);
  printf("%s\n", lockc_status_name(status));
  lockc_client_close(client);
  return status == LOCKC_OK && redisReaderCreate() == NULL ? 0 : 1;
}
