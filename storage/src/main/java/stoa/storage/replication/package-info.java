/// Replication of versioned objects over several devices, with writes in any order (VOSD paper,
/// section II-E).
package stoa.storage.replication;
