package stoa.bench.migration;

import java.util.List;
import stoa.Accessor;
import stoa.Placement;
import stoa.Shared;
import stoa.bench.load.Pause;
import stoa.classifier.Connection;
import stoa.classifier.Model;

/// A classifier of traffic whose training is simulated: it waits as long as LIBSVM took for the
/// same update, and then has the model that LIBSVM made.
///
/// A state machine with one call at a time. Its subclasses determine the place.
public abstract class Traffic {
  private final int first;
  private int updates;
  private Model model = Model.empty();

  /// Creates a classifier that has learned nothing yet.
  ///
  /// @param first the number of LIBSVM's update that its first one stands for
  protected Traffic(int first) {
    this.first = first;
  }

  /// Learns from records.
  public int update(List<Connection> records) {
    var made = Trained.of(first + updates);
    compute(made.nanos());
    model = made.model();
    return records.size() + ++updates;
  }

  /// Takes a model as if it had learned it.
  public int take(Model other) {
    model = other;
    return updates;
  }

  /// Waits at its place.
  abstract void compute(long nanos);

  /// Returns the learned model.
  @Accessor
  public Model model() {
    return model;
  }

  /// Returns how often it has learned.
  @Accessor
  public int updates() {
    return updates;
  }

  /// At the clients.
  @Shared(name = "stoa.bench.ClientTraffic", placement = Placement.CLIENT)
  public static class AtClients extends Traffic {
    protected AtClients(int first) {
      super(first);
    }

    @Override
    void compute(long nanos) {
      Pause.AT_CLIENT.accept(nanos);
    }
  }

  /// At the server.
  @Shared(name = "stoa.bench.ServerTraffic")
  public static class AtServer extends Traffic {
    protected AtServer(int first) {
      super(first);
    }

    @Override
    void compute(long nanos) {
      Pause.AT_SERVER.accept(nanos);
    }
  }
}
