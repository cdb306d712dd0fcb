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
/// A state machine; one call at a time is made on it. Its subclasses say where.
public abstract class Traffic {
  private final int first;
  private int updates;
  private Model model = Model.empty();

  /// Has learned nothing yet.
  ///
  /// @param first which update of LIBSVM's its first one is
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

  /// Waits where it is.
  abstract void compute(long nanos);

  /// What it has learned.
  @Accessor
  public Model model() {
    return model;
  }

  /// How often it has learned.
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
