#include "loop/loop.h"
#include "loop/states.h"

#include <stdlib.h>
#include <unistd.h>

// Jobs, and mail from other threads: a stack that anybody pushes to and only the loop's thread takes, whole.

crpc_mail crpc_mail_ended;

static void jobs_grow(crpc_loop *loop) {
    size_t capacity = loop->job_capacity * 2;
    void **jobs = malloc(capacity * sizeof *jobs);
    if (jobs == NULL) crpc_die("no memory for a job");
    for (size_t i = 0; i < loop->job_count; i++)
        jobs[i] = loop->jobs[(loop->job_head + i) & (loop->job_capacity - 1)];
    free(loop->jobs);
    loop->jobs = jobs;
    loop->job_capacity = capacity;
    loop->job_head = 0;
}

void crpc_job_push(crpc_loop *loop, void *job) {
    if (loop->job_count == loop->job_capacity) jobs_grow(loop);
    loop->jobs[(loop->job_head + loop->job_count) & (loop->job_capacity - 1)] = job;
    loop->job_count += 1;
}

void crpc_jobs_run(crpc_loop *loop) {
    for (int run = 0; run < CRPC_JOBS_PER_TURN_MAX && loop->job_count > 0; run++) {
        void *job = loop->jobs[loop->job_head];
        loop->job_head = (loop->job_head + 1) & (loop->job_capacity - 1);
        loop->job_count -= 1;
        loop->run_job(job, loop->context);
    }
}

static void mail_wake(crpc_loop *loop) {
    // Only a loop that sleeps, or is about to, needs the system call; it looks at its mail once more after it said so.
    if (!atomic_exchange(&loop->sleeping, false)) return;
    uint64_t one = 1;
    ssize_t ignored = write(loop->wake_fd, &one, sizeof one);
    (void)ignored;
}

int crpc_loop_post(crpc_loop *loop, crpc_function function, void *context) {
    crpc_mail *mail = malloc(sizeof *mail);
    if (mail == NULL) crpc_die("no memory for a message to a loop");
    mail->function = function;
    mail->context = context;
    crpc_mail *first = atomic_load(&loop->mail);
    do {
        if (first == &crpc_mail_ended) {
            free(mail);
            return CRPC_ERROR_CLOSED;
        }
        mail->next = first;
    } while (!atomic_compare_exchange_weak(&loop->mail, &first, mail));
    mail_wake(loop);
    return CRPC_OK;
}

void crpc_loop_stop(crpc_loop *loop) {
    atomic_store(&loop->stopping, true);
    mail_wake(loop);
}

void crpc_mail_read(crpc_loop *loop, crpc_mail *next_mail) {
    crpc_mail *newest = atomic_exchange(&loop->mail, next_mail);
    crpc_mail *oldest = NULL;
    while (newest != NULL) { // it was pushed like a stack: turn it around
        crpc_mail *next = newest->next;
        newest->next = oldest;
        oldest = newest;
        newest = next;
    }
    while (oldest != NULL) {
        crpc_mail *next = oldest->next;
        if (oldest->function == NULL) {
            crpc_job_push(loop, oldest->context);
        } else {
            oldest->function(oldest->context);
        }
        free(oldest);
        oldest = next;
    }
}

void crpc_mail_drop(crpc_loop *loop) {
    crpc_mail *mail = atomic_exchange(&loop->mail, NULL);
    while (mail != NULL && mail != &crpc_mail_ended) {
        crpc_mail *next = mail->next;
        free(mail);
        mail = next;
    }
}
