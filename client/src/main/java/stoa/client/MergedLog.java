package stoa.client;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;
import stoa.LogAddress;
import stoa.LogSlot;
import stoa.StreamEntry;
import stoa.base.Decoder;
import stoa.wire.StreamForms;

/// Reads the logs of several groups as the one log that their addresses make. One thread uses it.
final class MergedLog {
  /*
   * Each group tells its part of the log up to an address only after it is complete there (`Moments`
   * in the store). So the least address among the next ones of all groups is the next one of the
   * whole, once each group without a known entry was asked up to there.
   *
   * Invariants:
   * (1) `ahead` has all entries of its group between the address that was taken last and `next`.
   * (2) An answer may repeat entries in front of `next`: two questions may be under way.
   */
  private static final LogAddress NONE = new LogAddress(-1, -1);

  /// The reading of one group's log. Its owner is the log.
  static final class Cursor {
    private final RemoteStreams streams;
    private final ArrayDeque<LogSlot.Written> ahead = new ArrayDeque<>();
    private LogAddress next;

    private Cursor(RemoteStreams streams, LogAddress next) {
      this.streams = streams;
      this.next = next;
    }

    /// Asks for later entries, for which the server waits a little.
    RemoteStreams.PendingAnswer later(int waitMillis) {
      return streams.later(next, waitMillis);
    }

    /// Takes the answer to [#later].
    void takeLater(Decoder in) {
      take(StreamForms.slots(in), StreamForms.log(in));
    }

    private boolean lacks(LogAddress bound) {
      return ahead.isEmpty() && next.compareTo(bound) <= 0;
    }

    private void takePage(Decoder in, LogAddress bound) {
      List<LogSlot> slots = StreamForms.slots(in);
      boolean more = in.u8() == 1;
      take(slots, more ? StreamForms.log(in) : after(bound));
    }

    private void take(List<LogSlot> slots, LogAddress reached) {
      for (LogSlot slot : slots) {
        if (slot instanceof LogSlot.Written written && slot.address().compareTo(next) >= 0) {
          ahead.add(written);
        }
      }
      if (reached.compareTo(next) > 0) next = reached;
    }
  }

  private final List<Cursor> cursors;

  /// @param groups the logs of all groups
  /// @param from the first address
  MergedLog(List<RemoteStreams> groups, LogAddress from) {
    cursors = groups.stream().map(streams -> new Cursor(streams, from)).toList();
  }

  private static LogAddress after(LogAddress address) {
    return new LogAddress(address.epoch(), address.counter() + 1);
  }

  List<Cursor> cursors() {
    return cursors;
  }

  /// Returns whether an entry is known.
  boolean hasKnown() {
    return cursors.stream().anyMatch(cursor -> !cursor.ahead.isEmpty());
  }

  /// Returns the last address of which an entry is known; one below all when there is none.
  LogAddress known() {
    LogAddress last = NONE;
    for (Cursor cursor : cursors) {
      LogSlot.Written known = cursor.ahead.peekLast();
      if (known != null && known.address().compareTo(last) > 0) last = known.address();
    }
    return last;
  }

  /// Returns the next content up to an address, which every group has issued; null when there is
  /// none.
  LogSlot.@Nullable Written next(LogAddress bound) {
    level(bound);
    LogSlot.Written least = null;
    for (Cursor cursor : cursors) {
      LogSlot.Written head = cursor.ahead.peek();
      if (head == null || head.address().compareTo(bound) > 0) continue;
      if (least == null || head.address().compareTo(least.address()) < 0) least = head;
    }
    return least == null ? null : take(least.address());
  }

  /// Asks the groups of which nothing is known up to an address.
  private void level(LogAddress bound) {
    while (true) {
      var lacking = cursors.stream().filter(cursor -> cursor.lacks(bound)).toList();
      if (lacking.isEmpty()) return;
      var asked = lacking.stream().map(cursor -> cursor.streams.page(cursor.next, bound)).toList();
      for (int i = 0; i < asked.size(); i++) lacking.get(i).takePage(asked.get(i).join(), bound);
    }
  }

  private LogSlot.Written take(LogAddress address) {
    var slots = new ArrayList<LogSlot.Written>();
    for (Cursor cursor : cursors) {
      LogSlot.Written head = cursor.ahead.peek();
      if (head != null && head.address().equals(address)) slots.add(cursor.ahead.remove());
    }
    return joined(slots);
  }

  /// Returns the whole content of an address of which several groups have parts.
  static LogSlot.Written joined(List<LogSlot.Written> slots) {
    if (slots.size() == 1) return slots.getFirst();
    var entries = new ArrayList<StreamEntry>();
    for (LogSlot.Written slot : slots) entries.addAll(slot.entries());
    // Those of an append come in the order of the keys. The sort leaves others in the order of
    // their
    // groups.
    if (entries.stream().allMatch(entry -> entry.kind() == StreamEntry.Kind.DATA)) {
      entries.sort(Comparator.comparing(StreamEntry::stream));
    }
    return new LogSlot.Written(slots.getFirst().address(), entries);
  }
}
