/// A doubly linked list through its elements. Each owner says whose thread it is on; nothing is allocated.
#ifndef CRPC_LINK_H
#define CRPC_LINK_H

#include <stdbool.h>
#include <stddef.h>

/// A list's head, or the place of an element in a list. An element that is in none is a list of its own.
typedef struct crpc_link {
    struct crpc_link *previous, *next;
} crpc_link;

static inline void crpc_link_init(crpc_link *link) { link->previous = link->next = link; }
static inline bool crpc_link_is_empty(const crpc_link *link) { return link->next == link; }
/// Takes an element out of its list, if it is in one.
static inline void crpc_link_remove(crpc_link *link) {
    link->previous->next = link->next;
    link->next->previous = link->previous;
    crpc_link_init(link);
}
/// Puts an element that is in no list at the end of one.
static inline void crpc_link_append(crpc_link *list, crpc_link *link) {
    link->previous = list->previous;
    link->next = list;
    list->previous->next = link;
    list->previous = link;
}
/// Moves a list's elements to another: what is appended to the first from then on waits for another time.
static inline void crpc_link_take_all(crpc_link *list, crpc_link *taken) {
    crpc_link_init(taken);
    if (crpc_link_is_empty(list)) return;
    *taken = *list;
    taken->next->previous = taken;
    taken->previous->next = taken;
    crpc_link_init(list);
}

/// The object whose member `pointer` points to.
#define CRPC_CONTAINER(pointer, type, member) ((type *)(void *)((char *)(pointer)-offsetof(type, member)))

#endif
