package stoa.peers;

import com.hazelcast.map.EntryProcessor;
import com.hazelcast.nio.ObjectDataInput;
import com.hazelcast.nio.ObjectDataOutput;
import com.hazelcast.nio.serialization.DataSerializableFactory;
import com.hazelcast.nio.serialization.IdentifiedDataSerializable;
import java.util.Map;

/// Adds one to a value of Hazelcast's map, in place, and returns it.
///
/// Its serialization is the shortest that Hazelcast has.
final class Increment implements EntryProcessor<Integer, Long, Long>, IdentifiedDataSerializable {
  private static final long serialVersionUID = 1;

  /// The number of its factory in Hazelcast.
  static final int FACTORY = 1;

  @Override
  public Long process(Map.Entry<Integer, Long> entry) {
    Long before = entry.getValue();
    long after = before == null ? 1 : before + 1;
    entry.setValue(after);
    return after;
  }

  @Override
  public int getFactoryId() {
    return FACTORY;
  }

  @Override
  public int getClassId() {
    return 1;
  }

  @Override
  public void writeData(ObjectDataOutput out) {}

  @Override
  public void readData(ObjectDataInput in) {}

  /// Returns the factory that creates it from its number.
  static DataSerializableFactory factory() {
    return _ -> new Increment();
  }
}
