package stoa.classifier.run;

import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import stoa.Reads;
import stoa.Stoa;
import stoa.classifier.Application;
import stoa.classifier.Classifier;
import stoa.classifier.Connection;
import stoa.classifier.Model;
import stoa.migration.Domain;
import stoa.migration.Member;
import stoa.migration.MemberPlace;

/// Networks that train shared classifiers together, one for each [Application], each network with
/// records that it keeps.
///
/// Every network is a member of the store's tree. One thread runs it; the networks have threads of
/// their own.
public final class Federation {
  /// How many networks there are, and of how many records an update is.
  public record Settings(int networks, int records) {
    /// @throws IllegalArgumentException when there is no network, or no record in an update
    public Settings {
      if (networks < 1) throw new IllegalArgumentException(networks + " networks; at least 1");
      if (records < 1) throw new IllegalArgumentException(records + " records; at least 1");
    }
  }

  /// An update that a network made.
  ///
  /// @param network its name
  /// @param model what the classifier had learned after it, or after one that came soon after
  /// @param nanos how long it took, with the time until the classifier had come
  public record Update(String network, Application application, Model model, long nanos) {}

  /// The result of a run.
  ///
  /// @param updates in the order in which they ended
  /// @param places the places of the networks after all training, with the classifiers there, by
  ///   application
  /// @param nanos the time of all updates
  public record Result(
      List<Update> updates, Map<MemberPlace, List<Application>> places, long nanos) {}

  private final Stoa stoa;
  private final Domain domain;
  private final Settings settings;
  private final Map<Application, Classifier> classifiers = new EnumMap<>(Application.class);
  private final List<Update> updates = Collections.synchronizedList(new ArrayList<>());
  private final Map<String, Member> members = new ConcurrentSkipListMap<>();
  private final Map<MemberPlace, List<Application>> places = new LinkedHashMap<>();

  /// Of a store in this process.
  public Federation(Stoa stoa, Settings settings) {
    this.stoa = stoa;
    this.domain = Domain.of(stoa);
    this.settings = settings;
    for (var application : Application.values()) {
      classifiers.put(application, stoa.get(Classifier.class, application.name()));
    }
  }

  /// The classifiers, as the store has them.
  public Map<Application, Classifier> classifiers() {
    return Collections.unmodifiableMap(classifiers);
  }

  /// Deals records to the networks and has them train, until nothing is left. All is durable then,
  /// and all networks have left.
  ///
  /// @throws IllegalStateException when a network failed
  public Result train(List<Connection> records) throws InterruptedException {
    int most = 3 * records.size() / settings.records / 4;
    long start = System.nanoTime();
    try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<?>> running = new ArrayList<>();
      for (int i = 0; i < settings.networks; i++) {
        var name = "network " + (i + 1);
        var own = Network.dealt(records, i, settings.networks);
        running.add(threads.submit(() -> new Near(name, most).train(own, settings.records)));
      }
      for (var each : running) await(each);
    }
    long nanos = System.nanoTime() - start;
    members.values().forEach(Member::close);
    return new Result(List.copyOf(updates), places, nanos);
  }

  private static void await(Future<?> future) throws InterruptedException {
    try {
      var _ = future.get();
    } catch (ExecutionException failed) {
      throw new IllegalStateException("a network failed: " + failed.getCause(), failed);
    }
  }

  private void look() {
    for (var member : members.values()) {
      MemberPlace place = member.place(classifiers.values());
      List<Application> here = new ArrayList<>();
      classifiers.forEach((application, classifier) -> {
        if (place.here().contains(classifier)) here.add(application);
      });
      places.put(place, here);
    }
  }

  /// A network that is a member of this process.
  private final class Near implements Network {
    private final String name;
    private final int most;
    private Member member;

    private Near(String name, int most) {
      this.name = name;
      this.most = most;
      this.member = join();
    }

    private Member join() {
      var joined = domain.join(name);
      members.put(name, joined);
      return joined;
    }

    @Override
    public void comeBack() {
      member.close();
      member = join();
    }

    @Override
    public void update(Application application, List<Connection> some) {
      var classifier = stoa.get(Classifier.class, application.name());
      long start = System.nanoTime();
      long _ = member.on(classifier).update(some);
      long nanos = System.nanoTime() - start;
      Model model = member.on(classifier, Reads.LOCAL).model();
      synchronized (updates) {
        updates.add(new Update(name, application, model, nanos));
        if (updates.size() == most) look();
      }
    }
  }
}
