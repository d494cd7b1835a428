/* Two cores and a memory that forgets to deliver: is what they saw allowed by TSO? */
#include <stdio.h>
#include <tribunal.h>

int main(void) {
    uint64_t session, now = 0;
    if (tribunal_open("tso", 2, &session) < 0) {
        fprintf(stderr, "tribunal %s: no session\n", tribunal_version());
        return 2;
    }
    tribunal_initial(session, 0x10, 7);

    /* Core 0 writes data, then a flag. Core 1 sees the flag and then old data. */
    tribunal_store(session, 0, 0x10, 8, now += 10);
    tribunal_store(session, 0, 0x18, 1, now += 10);
    tribunal_load(session, 1, 0x18, 1, now += 10);
    tribunal_load(session, 1, 0x10, 7, now += 10);

    /* A call that makes no sense is an error and changes nothing. */
    if (tribunal_load(session, 2, 0x10, 8, now) == TRIBUNAL_ERROR_THREAD)
        printf("error: %s\n", tribunal_last_error(session));

    int verdict = tribunal_finish(session);
    printf("verdict: %s\n", tribunal_status_text(verdict));
    if (verdict == TRIBUNAL_VIOLATION)
        fputs(tribunal_explanation(session), stdout);
    tribunal_close(session);
    return verdict == TRIBUNAL_VIOLATION ? 1 : 0;
}
