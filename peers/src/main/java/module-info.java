/// Other storage engines, beside which `./stoa bench storage` and `./stoa bench tx` measure; no
/// other command builds this module.
@org.jspecify.annotations.NullMarked
module stoa.peers {
  requires static transitive org.jspecify;
  requires stoa.bench;
  requires rocksdbjni;
  requires com.h2database.mvstore;

  provides stoa.bench.Contender with
      stoa.peers.RocksContender,
      stoa.peers.BlobContender,
      stoa.peers.MvStoreContender;
  provides stoa.bench.TransactionContender with
      stoa.peers.RocksTransactions,
      stoa.peers.MvStoreTransactions;
}
