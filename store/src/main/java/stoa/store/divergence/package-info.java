/// What replicas do about each other's states: the leader announces them (`Announcements`), the
/// others compare (`Following`), and keys that differ take no calls (`Quarantine`).
package stoa.store.divergence;
