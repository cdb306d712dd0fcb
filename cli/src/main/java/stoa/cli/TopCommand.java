package stoa.cli;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import stoa.Forbidden;
import stoa.objects.LookService;
import stoa.programs.Words;
import stoa.wire.proto.CallStatus;
import stoa.wire.proto.LookReply;
import stoa.wire.proto.LookRequest;
import stoa.wire.proto.SessionStatus;
import stoa.wire.proto.StatusReply;
import stoa.wire.proto.StatusRequest;
import stoa.wire.proto.TimerStatus;
import stoa.wire.proto.UseLine;
import stoa.wire.proto.UseOf;

/// `stoa top`: what is hot, slow, large, and waits.
@Command(
    name = "top",
    description =
        "Shows the objects that change most, run longest and are largest, the calls that wait and"
            + " why, and the clients that do not read. Shows it again and again, until it is"
            + " interrupted.",
    footer = {
      "",
      "changes/s counts the entries of an object's stream; accessors make none. running and",
      "waiting are how many of its calls did so on average."
    })
final class TopCommand implements Callable<Integer> {
  // Fewer bytes are on their way to any client.
  private static final long UNREAD_LEAST = 64 << 10;

  private static final String CLEAR = "\033[H\033[2J";

  @Spec private @Nullable CommandSpec spec;
  @Mixin private Operator operator = new Operator();

  @Option(names = "--once", description = "Shows it once.")
  private boolean once;

  @Option(
      names = "--seconds",
      paramLabel = "N",
      description = "How long to watch each time. Default: ${DEFAULT-VALUE}")
  private double seconds = 2;

  @Option(
      names = "--rows",
      paramLabel = "N",
      description = "How many rows of each table. Default: ${DEFAULT-VALUE}")
  private int rows = 15;

  @Option(names = "--json", description = "Prints JSON; together with --once.")
  private boolean json;

  private TopCommand() {}

  /// The use of a store in some moment.
  ///
  /// @param calls the calls under way
  /// @param groups the group of each of these calls
  /// @param slow the sessions whose clients leave answers unread, the most bytes first
  record Seen(
      List<UseLine> uses,
      List<CallStatus> calls,
      Map<CallStatus, Integer> groups,
      List<Slow> slow,
      TimerStatus timers) {}

  /// A session whose client leaves answers unread.
  record Slow(int group, SessionStatus session) {}

  @Override
  public Integer call() throws InterruptedException {
    var line = Objects.requireNonNull(spec).commandLine();
    double most = LookService.TIME_MAX.toSeconds();
    if (!(seconds > 0 && seconds <= most)) {
      throw new ParameterException(line, "--seconds is " + seconds + "; give up to " + most);
    }
    if (rows < 1) throw new ParameterException(line, "--rows is " + rows + "; give 1 or more");
    if (json && !once) throw new ParameterException(line, "give --once together with --json");
    int groups = LookSource.Served.of(operator).groups();
    PrintWriter out = line.getOut();
    do {
      Seen seen = seen(operator, groups, (int) (1_000 * seconds), rows);
      if (json) {
        Json.print(out, json(seen, rows));
      } else {
        if (!once) out.print(CLEAR);
        print(out, seen);
      }
    } while (!once);
    return 0;
  }

  /// Watches all groups at the same time.
  ///
  /// @param millis for how long
  /// @param rows how many objects of each sort
  static Seen seen(Operator operator, int groups, int millis, int rows)
      throws InterruptedException {
    var uses = new ArrayList<UseLine>();
    var calls = new ArrayList<CallStatus>();
    var groupsOfCalls = new IdentityHashMap<CallStatus, Integer>();
    var slow = new ArrayList<Slow>();
    var timers = TimerStatus.newBuilder();
    try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      var watched = new ArrayList<Future<LookReply>>();
      for (int i = 0; i < groups; i++) {
        int group = i;
        var use = UseOf.newBuilder().setMillis(millis).setMax(rows);
        var asked = LookRequest.newBuilder().setGroup(group).setUse(use).build();
        watched.add(
            threads.submit(
                () -> LookSource.told(operator.ask(group, server -> server.look(asked)))));
      }
      for (Future<LookReply> one : watched) uses.addAll(one.get().getUsesList());
      for (int group = 0; group < groups; group++) {
        var asked = StatusRequest.newBuilder().setGroup(group).build();
        StatusReply status = operator.ask(group, server -> server.status(asked));
        timers
            .setCount(timers.getCount() + status.getTimers().getCount())
            .setOverdue(timers.getOverdue() + status.getTimers().getOverdue());
        for (CallStatus call : status.getCallsList()) {
          calls.add(call);
          groupsOfCalls.put(call, group);
        }
        for (SessionStatus session : status.getSessionsList()) {
          if (session.getUnreadBytes() >= UNREAD_LEAST) slow.add(new Slow(group, session));
        }
      }
    } catch (ExecutionException failed) {
      if (failed.getCause() instanceof IllegalArgumentException told) throw told;
      if (failed.getCause() instanceof Forbidden told) throw told;
      throw new IllegalStateException(failed.getCause());
    }
    slow.sort(Comparator.comparingLong((Slow one) -> one.session().getUnreadBytes()).reversed());
    return new Seen(
        uses, calls, groupsOfCalls, slow.subList(0, Math.min(rows, slow.size())), timers.build());
  }

  private List<UseLine> most(List<UseLine> uses, Comparator<UseLine> order) {
    return uses.stream().sorted(order.reversed()).limit(rows).toList();
  }

  private void print(PrintWriter out, Seen seen) {
    var busy =
        most(
            seen.uses(),
            Comparator.comparingDouble(
                one -> one.getChanges() + 1_000 * (one.getRuns() + one.getWaits())));
    out.printf(
        "%11s %9s %9s %10s  %s%n", "changes/s", "running", "waiting", "memory", "busiest objects");
    for (UseLine one : busy) {
      if (one.getChanges() + one.getRuns() + one.getWaits() == 0) continue;
      out.printf(
          Locale.ROOT,
          "%,11.1f %9.2f %9.2f %10s  %s%s%n",
          one.getChanges(),
          one.getRuns(),
          one.getWaits(),
          Words.bytes(one.getBytes()),
          one.getObject(),
          one.getSlowest().isEmpty() ? "" : "  " + one.getSlowest());
    }
    out.printf("%n%10s  %s%n", "memory", "largest objects");
    for (UseLine one : most(seen.uses(), Comparator.comparingLong(UseLine::getBytes))) {
      out.printf("%10s  %s%n", Words.bytes(one.getBytes()), one.getObject());
    }
    out.printf("%n%s under way%n", Words.count(seen.calls().size(), "call"));
    for (CallStatus call : longest(seen.calls(), rows)) {
      out.printf(
          "%10s  %10s  %s %s  %s%n",
          call.getId(),
          Words.millis(Duration.ofMillis(call.getMillis())),
          call.getObject(),
          call.getMethod(),
          why(call, seen.calls()));
    }
    if (seen.timers().getCount() > 0) {
      out.printf(
          "%n%s, %s overdue%n",
          Words.count(seen.timers().getCount(), "timer"), Words.count(seen.timers().getOverdue()));
    }
    if (!seen.slow().isEmpty()) {
      out.printf(
          "%n%10s  %10s  %5s  %s%n",
          "unread", "session", "group", "clients that leave answers unread");
    }
    for (Slow slow : seen.slow()) {
      SessionStatus session = slow.session();
      out.printf(
          "%10s  %10d  %5d  %s%n",
          Words.bytes(session.getUnreadBytes()),
          session.getSession(),
          slow.group(),
          session.getConnected() ? session.getPeer() : "not connected");
    }
    out.flush();
  }

  private static List<CallStatus> longest(List<CallStatus> calls, int rows) {
    return calls.stream()
        .sorted(Comparator.comparingLong(CallStatus::getMillis).reversed())
        .limit(rows)
        .toList();
  }

  /// Why a call has not ended: what it does, or which call is in front of it.
  private static String why(CallStatus call, List<CallStatus> all) {
    if (!call.getCalls().isEmpty()) return "waits for " + call.getCalls();
    if (call.getRunning()) return "runs";
    if (call.getAwaiting()) return "waits in " + call.getMethod() + " for its condition";
    CallStatus front = inFront(call, all);
    if (front == null) return "waits for its turn";
    String then = front.getCalls().isEmpty() ? "" : ", which waits for " + front.getCalls();
    return "waits behind call "
        + front.getId()
        + ", "
        + front.getMethod()
        + ", for "
        + Words.millis(Duration.ofMillis(front.getMillis()))
        + then;
  }

  /// Returns the call that runs on the object of a call that waits; null when there is none.
  private static @Nullable CallStatus inFront(CallStatus call, List<CallStatus> all) {
    if (call.getRunning() || call.getAwaiting()) return null;
    for (CallStatus other : all) {
      if (other.getRunning() && other.getObject().equals(call.getObject())) return other;
    }
    return null;
  }

  /// Returns what is in use.
  static JsonObject json(Seen seen, int rows) {
    var objects = new JsonArray();
    for (UseLine one : seen.uses()) {
      var told = new JsonObject();
      told.addProperty("object", one.getObject());
      told.addProperty("changesPerSecond", one.getChanges());
      told.addProperty("running", one.getRuns());
      told.addProperty("waiting", one.getWaits());
      told.addProperty("bytes", one.getBytes());
      if (!one.getSlowest().isEmpty()) told.addProperty("slowest", one.getSlowest());
      objects.add(told);
    }
    var calls = new JsonArray();
    for (CallStatus call : longest(seen.calls(), rows)) {
      var told = new JsonObject();
      told.addProperty("call", call.getId());
      told.addProperty("group", seen.groups().get(call));
      told.addProperty("object", call.getObject());
      told.addProperty("method", call.getMethod());
      told.addProperty("millis", call.getMillis());
      told.addProperty("running", call.getRunning());
      told.addProperty("why", why(call, seen.calls()));
      CallStatus front = inFront(call, seen.calls());
      if (front != null) told.addProperty("behind", front.getId());
      if (call.getSession() > 0) told.addProperty("session", call.getSession());
      if (!call.getPeer().isEmpty()) told.addProperty("client", call.getPeer());
      calls.add(told);
    }
    var all = new JsonObject();
    all.add("objects", objects);
    all.addProperty("timers", seen.timers().getCount());
    all.addProperty("timersOverdue", seen.timers().getOverdue());
    all.add("calls", calls);
    var slow = new JsonArray();
    for (Slow one : seen.slow()) {
      SessionStatus session = one.session();
      var told = new JsonObject();
      told.addProperty("group", one.group());
      told.addProperty("session", session.getSession());
      told.addProperty("client", session.getPeer());
      told.addProperty("unreadBytes", session.getUnreadBytes());
      slow.add(told);
    }
    all.add("slowClients", slow);
    return all;
  }
}
