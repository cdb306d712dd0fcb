package stoa.classifier;

import java.util.List;
import stoa.Accessor;
import stoa.Placement;
import stoa.Shared;

/// A classifier that many networks train, each with records that it keeps (section 8.3).
///
/// It migrates to the network that updates it. Of the records it keeps only support vectors.
@Shared(name = "classifier.Classifier", key = "name", placement = Placement.CLIENT)
public class Classifier {
  /// How many records an update has at most.
  public static final int RECORDS_MAX = 20_000;

  private final String name;
  private Model model = Model.empty();

  /// For the store; programs get classifiers from there.
  protected Classifier(String name) {
    this.name = name;
  }

  /// Learns from records. Takes long: the machine is trained anew, with these and with the support
  /// vectors that it has.
  ///
  /// @return how many updates it has learned from
  /// @throws IllegalArgumentException when there are more than [#RECORDS_MAX]
  public long update(List<Connection> records) {
    if (records.size() > RECORDS_MAX) {
      throw new IllegalArgumentException(
          "an update of %s with %d records; at most %d, so make several"
              .formatted(name, records.size(), RECORDS_MAX));
    }
    model = model.with(records);
    return model.updates();
  }

  /// Returns the category of a connection, according to all training.
  @Accessor
  public Category classify(Connection connection) {
    return model.classify(connection);
  }

  /// Returns the trained model, for any number of classifications.
  @Accessor
  public Model model() {
    return model;
  }

  /// How many updates it has learned from.
  @Accessor
  public long updates() {
    return model.updates();
  }
}
