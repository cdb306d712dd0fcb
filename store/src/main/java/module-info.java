/// The listenable key-value store: a put is an append to the key's stream, and handlers run where
/// the key lives.
@org.jspecify.annotations.NullMarked
@SuppressWarnings("module") // stoa.objects is built later
module stoa.store {
  requires static transitive org.jspecify;
  requires transitive stoa.log;
  requires org.slf4j;

  exports stoa.store;
  exports stoa.store.blobs;
  exports stoa.store.calls;
  exports stoa.store.changes;
  exports stoa.store.ordering;
  exports stoa.store.past;
  exports stoa.store.replicas;
  exports stoa.store.running;
  exports stoa.store.streams;
  exports stoa.store.threads;
  exports stoa.store.watching;

  // For the intents of transactions that have lost often.
  exports stoa.store.leading to
      stoa.objects;
  exports stoa.store.transactions to
      stoa.objects;

  // For the division of a store among groups, which copies records as they are, and for clients
  // that execute them.
  exports stoa.store.divergence to
      stoa.objects;
  exports stoa.store.records to
      stoa.node,
      stoa.objects;
}
