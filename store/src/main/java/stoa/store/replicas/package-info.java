/// The data that replicas exchange about states and logs: announcements, divergence, losses.
package stoa.store.replicas;
