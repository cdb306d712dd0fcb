package stoa.bench.stacksync;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import stoa.Stoa;
import stoa.bench.load.Samples;
import stoa.bench.machine.ServerJava;
import stoa.bench.machine.TaskProcess;
import stoa.bench.remote.RemoteContender;
import stoa.bench.remote.RemoteContender.Persistence;
import stoa.bench.remote.StoaServer;
import stoa.bench.report.Context;
import stoa.bench.report.Findings;
import stoa.bench.report.Result;
import stoa.programs.BackgroundProcess;
import stoa.programs.Directories;
import stoa.stacksync.Design;
import stoa.stacksync.Services;
import stoa.stacksync.SyncService;

/// The papers' setup: a queue that is filled beforehand, and instances of the service in processes
/// of their own that take requests from it and commit them at a server.
///
/// The first series of requests makes all processes compile their code, and the second one counts.
/// One thread uses it.
final class QueuePhase {
  private static final Design DESIGN = Design.ITEMS_EMBEDDED;
  private static final List<String> HEAP = List.of("-Xmx512m");
  private static final long SEED = 29;
  private static final long END_SECONDS_MAX = 20;

  private static final String SERVER = ", processor of the server";
  private static final String INSTANCES = ", processor of the instances";
  private static final String QUEUE = ", processor of the queue";

  private final Context<StackSyncScale> context;
  private final StackSyncScale sizes;
  private final Samples samples = new Samples();
  private final Map<String, String> absent = new LinkedHashMap<>();

  QueuePhase(Context<StackSyncScale> context) {
    this.context = context;
    sizes = context.sizes();
  }

  void measure(Findings findings) throws Exception {
    var queues = QueueInstance.queues();
    for (int round = 1; round <= sizes.rounds(); round++) {
      for (var queue : queues) {
        if (absent.containsKey(queue.name())) continue;
        context.progress().accept("queues, round %d: %s".formatted(round, queue.name()));
        Path folder = Files.createDirectory(context.folder().resolve("queue"));
        try {
          measure(queue, folder);
        } catch (RemoteContender.Missing e) {
          absent.put(queue.name(), String.valueOf(e.getMessage()));
        } finally {
          Directories.delete(folder);
        }
      }
    }
    findings.section(
        "doCommit of %d new items from a queue of %,d requests, %s, %d instances of %d threads"
            .formatted(
                sizes.items(), sizes.queued(), DESIGN, sizes.instances(), sizes.takersEach()),
        results());
    var text = new StringBuilder();
    for (var queue : queues) {
      text.append(
          "%s: %s%n".formatted(queue.name(), absent.getOrDefault(queue.name(), queue.delivery())));
    }
    findings.matrix("a request whose instance ends before its commit", text.toString());
  }

  private void measure(RequestQueue queue, Path folder) throws Exception {
    try (var waiting = queue.start(Files.createDirectory(folder.resolve("requests")));
        var server =
            StoaServer.serve(folder.resolve("store"), Persistence.SYNCED, ServerJava.LARGE_HEAP)) {
      String url = "stoa://" + StoaServer.address(server);
      var load = new CommitLoad(sizes);
      try (var client = new Client(Stoa.open(url), server)) {
        load.populate(client);
      }
      var instances = new ArrayList<Instance>();
      try {
        for (int i = 0; i < sizes.instances(); i++) {
          instances.add(new Instance(i, url, queue, waiting));
        }
        for (var instance : instances) instance.awaitReady();
        series(load, waiting, instances, 1);
        var before = Used.now(server, waiting, instances);
        double seconds = series(load, waiting, instances, 2);
        var used = Used.now(server, waiting, instances).since(before);
        samples.add(queue.name(), sizes.queued() / seconds);
        samples.add(queue.name() + SERVER, micros(used.server));
        samples.add(queue.name() + INSTANCES, micros(used.instances));
        samples.add(queue.name() + QUEUE, micros(used.queue));
      } finally {
        instances.forEach(Instance::close);
      }
    }
  }

  /// Fills the queue, lets the instances empty it, and returns how many seconds they took.
  private double series(
      CommitLoad load, RequestQueue.Running waiting, List<Instance> instances, int number)
      throws Exception {
    var random = new SplittableRandom(SEED + number);
    var requests = new ArrayList<byte[]>();
    for (int i = 0; i < sizes.queued(); i++) requests.add(load.request(random).bytes());
    waiting.put(requests, instances.size(), sizes.takersEach());
    long begin = System.nanoTime();
    for (var instance : instances) instance.begin();
    long made = 0;
    for (var instance : instances) made += instance.awaitEnd();
    double seconds = (System.nanoTime() - begin) / 1e9;
    if (made != sizes.queued()) {
      throw new IllegalStateException("%,d of %,d requests came".formatted(made, sizes.queued()));
    }
    return seconds;
  }

  private double micros(Duration all) {
    return all.toNanos() / 1e3 / sizes.queued();
  }

  /// The processor time of all processes so far.
  private record Used(Duration server, Duration instances, Duration queue) {
    static Used now(
        BackgroundProcess server, RequestQueue.Running waiting, List<Instance> instances) {
      var all = Duration.ZERO;
      for (var instance : instances) all = all.plus(instance.processorTime());
      return new Used(server.processorTime(), all, waiting.processorTime());
    }

    Used since(Used before) {
      return new Used(
          server.minus(before.server),
          instances.minus(before.instances),
          queue.minus(before.queue));
    }
  }

  private List<Result> results() {
    var results = new ArrayList<Result>();
    String first = QueueInstance.queues().getFirst().name();
    for (var queue : QueueInstance.queues()) {
      String name = queue.name();
      if (!samples.has(name)) continue;
      var rate = Result.of(samples, name, "commits/s");
      results.add(name.equals(first) ? rate : rate.beside(first, samples.median(first)));
      results.add(Result.of(samples, name + SERVER, "us/commit"));
      results.add(Result.of(samples, name + INSTANCES, "us/commit"));
      results.add(Result.of(samples, name + QUEUE, "us/commit"));
    }
    return results;
  }

  /// A client that adds the users.
  private record Client(Stoa stoa, BackgroundProcess server) implements StackSyncContender.Running {
    @Override
    public SyncService service(int caller) {
      return Services.open(stoa, "caller " + caller, DESIGN);
    }

    @Override
    public Duration processorTime() {
      return server.processorTime();
    }

    @Override
    public void close() {
      stoa.close();
    }
  }

  /// An instance of the service. A thread of its own reads what the process says.
  private final class Instance implements AutoCloseable {
    private final int number;
    private final RequestQueue.Running waiting;
    private final Process process;
    private final CompletableFuture<Boolean> ready = new CompletableFuture<>();
    private volatile CompletableFuture<Long> ended = new CompletableFuture<>();

    private Instance(int number, String url, RequestQueue queue, RequestQueue.Running waiting)
        throws IOException {
      this.number = number;
      this.waiting = waiting;
      process =
          TaskProcess.start(
              QueueInstance.class,
              HEAP,
              url,
              DESIGN.name(),
              queue.name(),
              waiting.address(),
              number,
              sizes.takersEach());
      Thread.ofPlatform().daemon().name("instance " + number).start(this::read);
    }

    private void read() {
      try (var lines =
          new BufferedReader(
              new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
          if (line.equals(QueueInstance.READY)) ready.complete(true);
          else if (line.equals(PipeQueue.DONE)) waiting.done(number);
          else if (line.startsWith(QueueInstance.ENDED)) {
            ended.complete(Long.valueOf(line.substring(QueueInstance.ENDED.length())));
          }
        }
        fail(new IllegalStateException("instance " + number + " has ended"));
      } catch (IOException | RuntimeException e) {
        fail(e);
      }
    }

    private void fail(Exception why) {
      ready.completeExceptionally(why);
      ended.completeExceptionally(why);
    }

    private void awaitReady() throws Exception {
      boolean _ = ready.get();
    }

    private void begin() throws IOException {
      if (ended.isDone() && !ended.isCompletedExceptionally()) ended = new CompletableFuture<>();
      var input = process.getOutputStream();
      input.write(1);
      input.flush();
      waiting.begin(number, input);
    }

    private long awaitEnd() throws Exception {
      return ended.get();
    }

    private Duration processorTime() {
      return process.info().totalCpuDuration().orElse(Duration.ZERO);
    }

    /// Ends the process. Does not wait when the caller is interrupted.
    @Override
    public void close() {
      try {
        process.getOutputStream().close();
        if (!process.waitFor(END_SECONDS_MAX, TimeUnit.SECONDS)) process.destroyForcibly();
      } catch (IOException e) {
        process.destroyForcibly();
      } catch (InterruptedException e) {
        process.destroyForcibly();
        Thread.currentThread().interrupt();
      }
    }
  }
}
