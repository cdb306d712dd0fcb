package stoa.peers;

import com.hazelcast.map.EntryProcessor;
import com.hazelcast.nio.ObjectDataInput;
import com.hazelcast.nio.ObjectDataOutput;
import com.hazelcast.nio.serialization.DataSerializableFactory;
import com.hazelcast.nio.serialization.IdentifiedDataSerializable;
import java.util.Map;

/// Adds one to a value of Hazelcast's map, where it lies, and answers it.
///
/// Its serialization is the shortest that Hazelcast has.
final class Increment implements EntryProcessor<Integer, Long, Long>, IdentifiedDataSerializable {
  private static final long serialVersionUID = 1;

  /// What tells Hazelcast how to make one.
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

  /// What makes one from its number.
  static DataSerializableFactory factory() {
    return _ -> new Increment();
  }
}
