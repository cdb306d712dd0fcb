/// How replicas keep equal states. The leader announces states (`Announcements`), the other
/// replicas compare them (`Following`), and keys that differ take no calls (`Quarantine`).
package stoa.store.divergence;
