/// What replicas tell each other of states and logs: announcements, divergence, losses.
package stoa.store.replicas;
