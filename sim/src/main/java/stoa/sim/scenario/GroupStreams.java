package stoa.sim.scenario;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Consumer;
import java.util.function.Function;
import stoa.Appended;
import stoa.LogAddress;
import stoa.LogSlot;
import stoa.StreamEntry;
import stoa.StreamKey;
import stoa.UnknownOutcome;
import stoa.base.CallId;
import stoa.sim.Chance;
import stoa.sim.Trace;
import stoa.sim.check.Demand;
import stoa.sim.check.TransactionHistory;
import stoa.sim.world.Links;
import stoa.store.Store;
import stoa.store.streams.StoredStreams;

/// The clients' work on streams in [GroupsScenario]. A stream is a list of the history: clients
/// append elements to streams of one group under a call id, which they repeat when they get no
/// answer; they read a stream as a whole, read the log of all groups up to its end, and follow
/// streams and that log. Not thread-safe: all clients are fibers of one thread.
final class GroupStreams {
  private static final int EACH = 2;
  private static final int ATTEMPTS_MAX = 6;
  private static final long SESSION = 9;
  private static final String PREFIX = "u";

  /// A server that leads a group.
  ///
  /// @param answers its answers to appends, which it keeps for clients that repeat them
  record Server(Store store, Map<CallId, CompletableFuture<Appended>> answers) {
    private StoredStreams streams() {
      return store.userStreams();
    }
  }

  /// The servers of all groups.
  interface Servers {
    /// Asks a server that is thought to lead a group.
    ///
    /// @param repeats whether the network may repeat the question
    /// @throws Links.Lost when the outcome is unknown
    <T> T ask(int group, boolean repeats, Function<Server, T> question);

    /// Returns a new name of an operation.
    String name(String kind);
  }

  /// An entry of the log of all groups.
  private record Placed(LogAddress log, String stream, String element) {}

  private final int groups;
  private final Servers servers;
  private final TransactionHistory history;
  private final Chance chance;
  private final Trace trace;
  private final Map<StreamKey, String> names = new HashMap<>();
  private final Map<String, LogAddress> told = new TreeMap<>();
  private long calls;

  // The elements and the log that the followers have seen.
  private final Map<String, List<String>> followed = new TreeMap<>();
  private final List<Placed> log = new ArrayList<>();
  private LogAddress next = new LogAddress(0, 0);
  private boolean follows;

  GroupStreams(
      int groups, Servers servers, TransactionHistory history, Chance chance, Trace trace) {
    this.groups = groups;
    this.servers = servers;
    this.history = history;
    this.chance = chance;
    this.trace = trace;
    for (int group = 0; group < groups; group++) {
      for (int i = 0; i < EACH; i++) names.put(key(name(group, i)), name(group, i));
    }
  }

  private static String name(int group, int index) {
    return PREFIX + group + "." + index;
  }

  private static StreamKey key(String stream) {
    return StreamKey.of(stream);
  }

  private static int groupOf(String stream) {
    return stream.charAt(1) - '0';
  }

  /// Returns the name of some stream.
  String any() {
    return name(chance.below(groups), chance.below(EACH));
  }

  /// Does some of the work.
  void work() {
    int dice = chance.below(100);
    if (dice < 40) append();
    else if (dice < 62) readStream(any());
    else if (dice < 75) readLog();
    else if (dice < 88) followStream(any());
    else followLog();
  }

  // ---- append

  private void append() {
    int group = chance.below(groups);
    String name = servers.name("append");
    var open = history.begin(name);
    var keys = new ArrayList<StreamKey>();
    var data = new ArrayList<byte[]>();
    int count = chance.between(1, EACH);
    int first = chance.below(EACH);
    for (int i = 0; i < count; i++) {
      String stream = name(group, (first + i) % EACH);
      open.append(stream, name + "." + i);
      keys.add(key(stream));
      data.add((name + "." + i).getBytes(StandardCharsets.UTF_8));
    }
    var id = new CallId(SESSION, ++calls);
    for (int attempt = 1; ; attempt++) {
      boolean again = attempt > 1;
      try {
        Appended at =
            servers.ask(group, true, server -> append(server, keys, data, id, again, trace));
        told.put(name, at.log());
        open.committed();
        if (again) trace.reached("an append is answered when it is repeated");
        return;
      } catch (Links.Lost | UnknownOutcome lost) {
        if (attempt == ATTEMPTS_MAX) throw lost;
      }
    }
  }

  /// Appends, unless this server or an earlier one has done so.
  private static Appended append(
      Server server,
      List<StreamKey> keys,
      List<byte[]> data,
      CallId id,
      boolean again,
      Trace trace) {
    CompletableFuture<Appended> known = server.answers.get(id);
    if (known != null) return joined(known);
    var answer = new CompletableFuture<Appended>();
    server.answers.put(id, answer);
    try {
      Appended earlier = again ? server.streams().earlier(keys, id, 0) : null;
      if (earlier != null) trace.reached("an earlier server has appended");
      answer.complete(
          earlier != null ? earlier : joined(server.streams().appendAsync(keys, data, id)));
    } catch (RuntimeException failed) {
      answer.completeExceptionally(failed);
    }
    return joined(answer);
  }

  private static Appended joined(CompletableFuture<Appended> answer) {
    try {
      return answer.join();
    } catch (CompletionException failed) {
      if (failed.getCause() instanceof RuntimeException cause) throw cause;
      throw failed;
    }
  }

  // ---- read

  private void readStream(String stream) {
    var open = history.begin(servers.name("scan"));
    open.read(stream, after(stream, 0, false));
    open.committed();
    trace.reached("a stream is read");
  }

  /// Returns the elements of a stream behind an address.
  ///
  /// @param follows whether to follow the stream, and not to read it up to its end
  private List<String> after(String stream, long address, boolean follows) {
    return servers.ask(
        groupOf(stream),
        false,
        server -> {
          var found = new ArrayList<String>();
          Consumer<StreamEntry> reader =
              entry -> {
                found.add(element(entry));
                Demand.that(
                    entry.address() == address + found.size(), stream + " is dense: " + entry);
              };
          if (!follows) {
            server
                .streams()
                .scan(
                    key(stream),
                    address + 1,
                    Long.MAX_VALUE,
                    entry -> {
                      reader.accept(entry);
                      return true;
                    });
            return found;
          }
          var follower = server.streams().follow(key(stream), address + 1);
          for (var entry = follower.poll(); entry != null; entry = follower.poll()) {
            reader.accept(entry);
          }
          return found;
        });
  }

  private static String element(StreamEntry entry) {
    return new String(entry.data(), StandardCharsets.UTF_8);
  }

  /// Reads all streams as of the end of the log.
  private void readLog() {
    var open = history.begin(servers.name("log"));
    var elements = new TreeMap<String, List<String>>();
    names.values().forEach(stream -> elements.put(stream, new ArrayList<>()));
    for (Placed one : log(new LogAddress(0, 0), end())) of(elements, one.stream).add(one.element);
    elements.forEach(open::read);
    open.committed();
    trace.reached("the log of all groups is read");
  }

  private static List<String> of(Map<String, List<String>> elements, String stream) {
    return elements.computeIfAbsent(stream, _ -> new ArrayList<>());
  }

  private LogAddress end() {
    return servers.ask(0, false, server -> server.streams().tail());
  }

  /// Returns the log of all groups from one address to another that was issued, in its order.
  private List<Placed> log(LogAddress from, LogAddress to) {
    var found = new ArrayList<Placed>();
    for (int group = 0; group < groups; group++) {
      found.addAll(servers.ask(group, false, server -> part(server, from, to)));
    }
    found.sort((one, other) -> one.log.compareTo(other.log)); // stable: entries of one address stay
    return found;
  }

  private List<Placed> part(Server server, LogAddress from, LogAddress to) {
    var found = new ArrayList<Placed>();
    server
        .streams()
        .scan(
            from,
            to,
            slot -> {
              found.addAll(entries(slot));
              return true;
            });
    return found;
  }

  private List<Placed> entries(LogSlot.Written slot) {
    var found = new ArrayList<Placed>();
    for (StreamEntry entry : slot.entries()) {
      String stream = names.get(entry.stream());
      if (stream != null) found.add(new Placed(slot.address(), stream, element(entry)));
    }
    return found;
  }

  // ---- follow

  private void followStream(String stream) {
    List<String> before = of(followed, stream);
    int known = before.size();
    List<String> more = after(stream, known, true);
    if (before.size() == known) before.addAll(more); // else another client has followed meanwhile
    trace.reached("a stream is followed");
  }

  private void followLog() {
    if (follows) return;
    follows = true;
    try {
      LogAddress to = end();
      if (to.compareTo(next) < 0) return;
      log.addAll(log(next, to));
      next = new LogAddress(to.epoch(), to.counter() + 1);
      trace.reached("the log of all groups is followed");
    } finally {
      follows = false;
    }
  }

  // ---- at the end

  /// Reads everything for the last time, and compares it with what the followers have seen. May be
  /// repeated when it fails.
  void readAll() {
    var open = history.begin(servers.name("all streams"));
    var all = new TreeMap<String, List<String>>();
    for (String stream : names.values()) all.put(stream, after(stream, 0, false));
    all.forEach(open::read);
    open.committed();
    followLog();
    for (String stream : all.keySet()) followStream(stream);
    all.forEach((stream, elements) -> {
      List<String> seen = of(followed, stream);
      Demand.that(seen.equals(elements), stream + " is " + elements + ", followers saw " + seen);
      var logged = new ArrayList<String>();
      for (Placed one : log) if (one.stream.equals(stream)) logged.add(one.element);
      Demand.that(logged.equals(elements), stream + " is " + elements + ", in the log " + logged);
    });
    verifyAddresses();
  }

  private void verifyAddresses() {
    var addresses = new TreeMap<String, LogAddress>();
    var named = new TreeMap<LogAddress, String>();
    for (Placed one : log) {
      String name = one.element.substring(0, one.element.indexOf('.'));
      LogAddress other = addresses.putIfAbsent(name, one.log);
      Demand.that(other == null || other.equals(one.log), name + " has one log address");
      String before = named.putIfAbsent(one.log, name);
      Demand.that(before == null || before.equals(name), before + " and " + name + " have two");
    }
    told.forEach((name, at) ->
        Demand.that(at.equals(addresses.get(name)), name + " is where it was told to be"));
  }

  /// Notes the address of a transaction that has appended.
  void appended(String name, LogAddress at) {
    told.put(name, at);
  }
}
