package stoa.objects;

import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import java.nio.file.Path;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.Stoa;
import stoa.Transaction;
import stoa.TxOptions;
import stoa.front.SharedTransaction;

class OutcomeTest {
  @Test
  void anOutcomeThatWasNotHeardIsFoundAgain(@TempDir Path folder) {
    String url = "file:" + folder.resolve("store");
    Transaction.Id committed;
    Transaction.Id never;
    try (Stoa stoa = Stoa.open(url)) {
      TransactionTest.Account alice = stoa.create(TransactionTest.Account.class, "alice", 100L);
      try (var transaction = stoa.begin(TxOptions.STANDARD)) {
        transaction.on(alice).deposit(1);
        committed = ((LocalWork) ((SharedTransaction) transaction).work()).id();
        transaction.commit();
      }
      never = new Transaction.Id(committed.object(), 1, new UUID(1, 12_345));
    }
    try (Stoa stoa = Stoa.open(url)) {
      assertInstanceOf(Transaction.Outcome.Committed.class, stoa.outcome(committed));
      assertInstanceOf(Transaction.Outcome.NotCommitted.class, stoa.outcome(never));
    }
  }
}
