package stoa.cluster;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import stoa.objects.CodeOfOthers;
import stoa.raft.Member;
import stoa.raft.Node;

/// Looks for the code of classes at the other servers of a store. Thread-safe.
final class CodeSearch {
  private static final Logger LOG = LoggerFactory.getLogger(CodeSearch.class);

  // How long this server waits for the code of a class from another one.
  private static final Duration CODE_TIME_MAX = Duration.ofSeconds(5);

  // For how long this server does not ask again for a class that no server had.
  private static final long MISSED_NANOS = Duration.ofSeconds(1).toNanos();

  private static final int MISSED_MAX = 1_000;

  private final String self;
  private final Node node;
  private final Supplier<List<Member>> servers;
  private final UnaryOperator<byte[]> here;

  // The times at which no server had a class, by the name of the class.
  private final ConcurrentHashMap<String, Long> missed = new ConcurrentHashMap<>();

  /// @param self the name of this server
  /// @param servers returns all known servers, this one included
  /// @param here answers a question at this server
  CodeSearch(String self, Node node, Supplier<List<Member>> servers, UnaryOperator<byte[]> here) {
    this.self = self;
    this.node = node;
    this.servers = servers;
    this.here = here;
  }

  /// Asks all servers at a time for code that has a class; null when none has it, or had it a
  /// moment ago: a client may ask for such a class again and again.
  CodeOfOthers.@Nullable Found find(String className) {
    Long before = missed.get(className);
    if (before != null && System.nanoTime() - before < MISSED_NANOS) return null;
    byte[] question = CodeOfOthers.question(className);
    var answers = new ArrayList<CompletableFuture<CodeOfOthers.@Nullable Found>>();
    for (Member asked : servers.get()) {
      answers.add(
          CompletableFuture.supplyAsync(
              () -> ask(asked, question), task -> Thread.ofVirtual().start(task)));
    }
    CodeOfOthers.Found onClassPath = null;
    for (var answer : answers) {
      CodeOfOthers.Found found = answer.join();
      if (found != null && found.executed()) return found;
      if (onClassPath == null) onClassPath = found;
    }
    if (onClassPath == null) {
      if (missed.size() >= MISSED_MAX) missed.clear();
      missed.put(className, System.nanoTime());
    }
    return onClassPath;
  }

  private CodeOfOthers.@Nullable Found ask(Member asked, byte[] question) {
    try {
      if (asked.id().equals(self)) return CodeOfOthers.found(here.apply(question));
      try (var line = node.line(asked)) {
        return CodeOfOthers.found(line.ask(question, CODE_TIME_MAX));
      }
    } catch (IOException | RuntimeException silent) {
      LOG.debug("server {} is not asked for code", asked.id(), silent);
      return null;
    }
  }
}
