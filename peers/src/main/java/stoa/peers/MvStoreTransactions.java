package stoa.peers;

import static java.util.Objects.requireNonNull;

import java.nio.file.Path;
import java.util.Arrays;
import org.h2.mvstore.DataUtils;
import org.h2.mvstore.MVStore;
import org.h2.mvstore.MVStoreException;
import org.h2.mvstore.tx.Transaction;
import org.h2.mvstore.tx.TransactionMap;
import org.h2.mvstore.tx.TransactionStore;
import org.h2.mvstore.type.LongDataType;
import stoa.bench.storage.Group;
import stoa.bench.tx.TransactionContender;

/// Transactions of H2's MVStore, which lock what they write: those that end together share a commit
/// and a sync of the store.
public final class MvStoreTransactions implements TransactionContender {
  private static final int CACHE_MIB = 64;
  private static final int LOCK_MILLIS = 10_000;

  /// The contender.
  public MvStoreTransactions() {}

  @Override
  public String name() {
    return "MVStore";
  }

  @Override
  public String how() {
    return "a lock for each number, in order; shared commit and sync of the store";
  }

  @Override
  public Store open(Path folder, int objects) {
    return new Opened(folder, objects);
  }

  private static final class Opened implements Store {
    private final int objects;
    private final MVStore store;
    private final TransactionStore transactions;
    private final Group<Integer> commits = new Group<>(Integer.MAX_VALUE, _ -> commit());

    Opened(Path folder, int objects) {
      this.objects = objects;
      store =
          new MVStore.Builder()
              .fileName(folder.resolve("store").toString())
              .autoCommitDisabled()
              .cacheSize(CACHE_MIB)
              .open();
      transactions = new TransactionStore(store);
      transactions.init();
      Transaction first = transactions.begin();
      for (long i = 0; i < objects; i++) numbers(first).put(i, 0L);
      first.commit();
      commit();
    }

    private static TransactionMap<Long, Long> numbers(Transaction transaction) {
      return transaction.openMap("numbers", LongDataType.INSTANCE, LongDataType.INSTANCE);
    }

    private void commit() {
      store.commit();
      store.sync();
    }

    @Override
    public void addOne(int[] of) throws Exception {
      // In order, so that no two wait for each other.
      int[] inOrder = of.clone();
      Arrays.sort(inOrder);
      while (!tryAddOne(inOrder)) Thread.onSpinWait();
      commits.join(0);
    }

    private boolean tryAddOne(int[] inOrder) {
      Transaction transaction = transactions.begin();
      transaction.setTimeoutMillis(LOCK_MILLIS);
      try {
        TransactionMap<Long, Long> numbers = numbers(transaction);
        for (int object : inOrder) {
          long key = object;
          long before = requireNonNull(numbers.lock(key));
          numbers.put(key, before + 1);
        }
        transaction.commit();
        return true;
      } catch (MVStoreException lost) {
        transaction.rollback();
        if (lost.getErrorCode() == DataUtils.ERROR_TRANSACTION_LOCKED) return false;
        throw lost;
      }
    }

    @Override
    public long sum() {
      Transaction transaction = transactions.begin();
      try {
        TransactionMap<Long, Long> numbers = numbers(transaction);
        long sum = 0;
        for (long i = 0; i < objects; i++) sum += requireNonNull(numbers.get(i));
        return sum;
      } finally {
        transaction.rollback();
      }
    }

    @Override
    public void close() {
      store.close();
    }
  }
}
