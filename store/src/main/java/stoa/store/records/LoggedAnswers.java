package stoa.store.records;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import stoa.log.StoredEntry;

/// The nested answers and verdicts in a part of a stream, gathered before its puts are executed.
/// One thread uses it.
public final class LoggedAnswers {
  private record Call(long address, int number) {}

  private final Map<Call, byte[]> answers = new HashMap<>();
  private final Set<Long> takenBack = new HashSet<>();
  private final Set<Long> done = new HashSet<>();
  private long followed;

  /// Creates an empty one.
  public LoggedAnswers() {}

  /// Keeps an answer or verdict about a put, if the entry is one.
  public void note(StoredEntry entry) {
    if (entry.kind() == Records.ANSWERED) {
      var answered = Records.answered(entry.payload());
      if (answered.number() == 0) {
        followed = Math.max(followed, answered.call());
        return;
      }
      answers.put(new Call(answered.call(), answered.number()), answered.answer());
    } else if (entry.kind() == Records.DONE) {
      done.add(Records.done(entry.payload()));
    } else if (entry.kind() == Records.VERDICT) {
      takenBack.add(Records.verdict(entry.payload()).call());
    }
  }

  /// Keeps the answer to a nested call.
  public void add(long address, int number, byte[] answer) {
    answers.put(new Call(address, number), answer);
  }

  public byte @Nullable [] find(long address, int number) {
    return answers.get(new Call(address, number));
  }

  /// Returns the answers to the nested calls of a put, in the order of the calls.
  public List<byte[]> of(long address) {
    var found = new ArrayList<byte[]>(0);
    for (byte[] next = find(address, 1); next != null; next = find(address, found.size() + 1)) {
      found.add(next);
    }
    return found;
  }

  /// Returns whether the log has all changes of other keys that a put has left to the store.
  public boolean isFollowed(long address) {
    return address <= followed;
  }

  public boolean isDone(long address) {
    return done.contains(address);
  }

  public boolean isTakenBack(long address) {
    return takenBack.contains(address);
  }
}
