package stoa.bench.migration;

import java.util.List;
import stoa.Accessor;
import stoa.Placement;
import stoa.Shared;
import stoa.classifier.Connection;
import stoa.classifier.Model;

/// A classifier of traffic that LIBSVM trains where the object is.
///
/// A state machine with one call at a time. Its subclasses determine the place.
public abstract class Learner {
  // A model of so many updates is forgotten, so that all updates cost about the same.
  private static final int UPDATES_MAX = 20;

  private Model model = Model.empty();
  private long updates;

  /// Creates one that has learned nothing.
  protected Learner() {}

  /// Learns from records.
  public long update(List<Connection> records) {
    if (model.updates() == UPDATES_MAX) model = Model.empty();
    model = model.with(records);
    return ++updates;
  }

  /// Returns the learned model.
  @Accessor
  public Model model() {
    return model;
  }

  /// Returns how often it has learned.
  @Accessor
  public long updates() {
    return updates;
  }

  /// At the clients.
  @Shared(name = "stoa.bench.ClientLearner", placement = Placement.CLIENT)
  public static class AtClients extends Learner {
    /// For the store.
    protected AtClients() {}
  }

  /// At the server.
  @Shared(name = "stoa.bench.ServerLearner")
  public static class AtServer extends Learner {
    /// For the store.
    protected AtServer() {}
  }
}
