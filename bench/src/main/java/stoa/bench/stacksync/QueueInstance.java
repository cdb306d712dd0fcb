package stoa.bench.stacksync;

import java.util.ArrayList;
import java.util.List;
import java.util.ServiceLoader;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import stoa.Stoa;
import stoa.stacksync.Design;
import stoa.stacksync.Services;
import stoa.stacksync.SyncService;

/// The main class of an instance of the service: its threads take requests from a [RequestQueue]
/// and commit them, each through a facade of its own. A byte of the standard input begins each
/// series of requests, and the end of that input ends the process.
final class QueueInstance {
  /// The line after which series may begin.
  static final String READY = "ready";

  /// The beginning of the line at the end of a series; the number of its commits follows.
  static final String ENDED = "ended ";

  private QueueInstance() {}

  /// Returns all queues.
  static List<RequestQueue> queues() {
    var queues = new ArrayList<RequestQueue>(List.of(new PipeQueue()));
    ServiceLoader.load(RequestQueue.class).forEach(queues::add);
    return queues;
  }

  /// Works until there are no more series.
  ///
  /// @param arguments the server's URL, the design, the name and the address of the queue, the
  ///   number of the instance and how many threads it has
  public static void main(String[] arguments) throws Exception {
    var design = Design.valueOf(arguments[1]);
    var queue =
        queues().stream()
            .filter(each -> each.name().equals(arguments[2]))
            .findFirst()
            .orElseThrow();
    int number = Integer.parseInt(arguments[4]);
    int threads = Integer.parseInt(arguments[5]);
    try (var stoa = Stoa.open(arguments[0])) {
      System.out.println(READY);
      while (System.in.read() >= 0) {
        var works = new ArrayList<Callable<Integer>>();
        for (int i = 0; i < threads; i++) {
          var service = Services.open(stoa, "instance %d, %d".formatted(number, i), design);
          works.add(() -> take(queue, arguments[3], service));
        }
        int made = 0;
        try (var pool = Executors.newFixedThreadPool(threads)) {
          for (Future<Integer> each : pool.invokeAll(works)) made += each.get();
        }
        System.out.println(ENDED + made);
      }
    }
  }

  private static int take(RequestQueue queue, String address, SyncService service)
      throws Exception {
    int made = 0;
    try (var taker = queue.taker(address)) {
      for (var next = taker.next(); next.isPresent(); next = taker.next()) {
        CommitRequest.of(next.get()).commit(service);
        made++;
      }
    }
    return made;
  }
}
