package stoa.client;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import stoa.LogAddress;
import stoa.base.Decoder;
import stoa.wire.StreamForms;

/// Reads the logs of several groups as the one log that their addresses make. One thread uses it.
///
/// @param <E> the contents of log addresses
final class MergedLog<E> {
  /*
   * Each group tells its part of the log up to an address only after it is complete there
   * (`ReadMoments` in the store). So the least address among the next ones of all groups is the next one of the
   * whole, once each group without a known entry was asked up to there.
   *
   * Invariants:
   * (1) `ahead` has all entries of its group between the address that was taken last and `next`.
   * (2) An answer may repeat entries in front of `next`: two questions may be under way.
   */
  private static final LogAddress NONE = new LogAddress(-1, -1);

  // The number of log addresses by which one group's level may lag behind another's.
  private static final long LEVEL_LAG = 64;

  // The longest time for which it may lag, so that a reader who asks is level in time.
  private static final long LEVEL_NANOS = 10_000_000_000L;

  /// The questions about one group's log.
  ///
  /// @param <E> the contents of log addresses
  interface Source<E> {
    /// Asks for later contents, for which the server waits a little. The answer ends with the
    /// address from which on the server has read nothing, and that of changes with [#level].
    RemoteStreams.PendingAnswer later(LogAddress from, int waitMillis);

    /// Asks for the first part of the contents from one address to another, both inclusive. The
    /// answer ends with a u8 that is 1 when there is more, and the address at which that begins.
    RemoteStreams.PendingAnswer page(LogAddress from, LogAddress to);

    /// Reads the contents that an answer begins with.
    List<E> contents(Decoder in);

    /// Returns the log address of a content.
    LogAddress address(E content);

    /// Returns the whole content of an address of which several groups have parts.
    E joined(List<E> parts);
  }

  /// The reading of one group's log. Its owner is the log.
  ///
  /// @param <E> the contents of log addresses
  static final class Cursor<E> {
    private final Source<E> source;
    private final ArrayDeque<E> ahead = new ArrayDeque<>();
    private LogAddress next;
    private @Nullable LogAddress level;

    private Cursor(Source<E> source, LogAddress next) {
      this.source = source;
      this.next = next;
    }

    private @Nullable LogAddress head() {
      E first = ahead.peek();
      return first == null ? null : source.address(first);
    }

    /// Asks for later entries, for which the server waits a little.
    RemoteStreams.PendingAnswer later(int waitMillis) {
      return source.later(next, waitMillis);
    }

    /// Takes the answer to [#later].
    void takeLater(Decoder in) {
      take(source.contents(in), StreamForms.log(in));
      raise(level(in));
    }

    private void raise(@Nullable LogAddress told) {
      if (told != null && (level == null || told.compareTo(level) > 0)) level = told;
    }

    private boolean lacks(LogAddress bound) {
      return ahead.isEmpty() && next.compareTo(bound) <= 0;
    }

    /// Returns whether it must ask before it is level with an address far behind its own level.
    ///
    /// @param lag how many addresses count as far
    private boolean isLate(LogAddress bound, long lag) {
      LogAddress own = level;
      if (own != null && bound.counter() - own.counter() < lag) return false;
      if (next.compareTo(bound) <= 0) return true;
      raise(bound);
      return false;
    }

    private void takePage(Decoder in, LogAddress bound) {
      List<E> contents = source.contents(in);
      boolean more = in.u8() == 1;
      take(contents, more ? StreamForms.log(in) : after(bound));
      if (!more) raise(bound);
    }

    private void take(List<E> contents, LogAddress reached) {
      for (E content : contents) {
        if (source.address(content).compareTo(next) >= 0) ahead.add(content);
      }
      if (reached.compareTo(next) > 0) next = reached;
    }
  }

  private final List<Cursor<E>> cursors;

  // When all groups were level.
  private long evened = System.nanoTime() - LEVEL_NANOS;

  /// @param groups the logs of all groups
  /// @param from the first address
  MergedLog(List<? extends Source<E>> groups, LogAddress from) {
    var all = new ArrayList<Cursor<E>>(groups.size());
    for (Source<E> group : groups) all.add(new Cursor<>(group, from));
    cursors = all;
  }

  private static LogAddress after(LogAddress address) {
    return new LogAddress(address.epoch(), address.counter() + 1);
  }

  /// Reads the end of an answer about changes: a log address up to which the reader of the answer
  /// has all of them. Null when the server says none.
  static @Nullable LogAddress level(Decoder in) {
    return in.remaining() > 0 && in.u8() == 1 ? StreamForms.log(in) : null;
  }

  /// Returns a log address up to which all entries of all groups were taken; null when none is
  /// known.
  @Nullable LogAddress level() {
    LogAddress least = null;
    for (Cursor<E> cursor : cursors) {
      LogAddress level = cursor.level;
      if (level == null || !cursor.ahead.isEmpty()) return null;
      if (least == null || level.compareTo(least) < 0) least = level;
    }
    return least;
  }

  /// Asks groups of which nothing was heard for long, so that [#level] moves on.
  void even() {
    LogAddress most = NONE;
    for (Cursor<E> cursor : cursors) {
      if (!cursor.ahead.isEmpty()) return;
      LogAddress level = cursor.level;
      if (level != null && level.compareTo(most) > 0) most = level;
    }
    LogAddress bound = most;
    long now = System.nanoTime();
    boolean all = now - evened >= LEVEL_NANOS;
    if (all) evened = now;
    long lag = all ? 1 : LEVEL_LAG;
    var late = cursors.stream().filter(cursor -> cursor.isLate(bound, lag)).toList();
    var asked = new ArrayList<RemoteStreams.PendingAnswer>();
    for (Cursor<E> cursor : late) asked.add(cursor.source.page(cursor.next, bound));
    for (int i = 0; i < asked.size(); i++) late.get(i).takePage(asked.get(i).join(), bound);
  }

  List<Cursor<E>> cursors() {
    return cursors;
  }

  /// Returns whether an entry is known.
  boolean hasKnown() {
    return cursors.stream().anyMatch(cursor -> !cursor.ahead.isEmpty());
  }

  /// Returns the last address of which an entry is known; one below all when there is none.
  LogAddress known() {
    LogAddress last = NONE;
    for (Cursor<E> cursor : cursors) {
      E content = cursor.ahead.peekLast();
      if (content == null) continue;
      LogAddress known = cursor.source.address(content);
      if (known.compareTo(last) > 0) last = known;
    }
    return last;
  }

  /// Returns the next content up to an address, which every group has issued; null when there is
  /// none.
  @Nullable E next(LogAddress bound) {
    level(bound);
    LogAddress least = null;
    for (Cursor<E> cursor : cursors) {
      LogAddress head = cursor.head();
      if (head == null || head.compareTo(bound) > 0) continue;
      if (least == null || head.compareTo(least) < 0) least = head;
    }
    return least == null ? null : take(least);
  }

  /// Asks the groups of which nothing is known up to an address.
  private void level(LogAddress bound) {
    while (true) {
      var lacking = cursors.stream().filter(cursor -> cursor.lacks(bound)).toList();
      if (lacking.isEmpty()) return;
      var asked = lacking.stream().map(cursor -> cursor.source.page(cursor.next, bound)).toList();
      for (int i = 0; i < asked.size(); i++) lacking.get(i).takePage(asked.get(i).join(), bound);
    }
  }

  private E take(LogAddress address) {
    var parts = new ArrayList<E>();
    Source<E> source = cursors.getFirst().source;
    for (Cursor<E> cursor : cursors) {
      if (address.equals(cursor.head())) parts.add(cursor.ahead.remove());
    }
    return source.joined(parts);
  }
}
