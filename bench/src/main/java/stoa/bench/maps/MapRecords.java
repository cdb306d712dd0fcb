package stoa.bench.maps;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import stoa.bench.cluster.NumberedKeys;
import stoa.bench.cluster.RecordWorkloads.Updates;
import stoa.bench.cluster.Records;

/// Records as values of a map, all fields of a record in one value. As in YCSB's bindings for
/// engines of this kind, an update of some fields reads the record and writes it whole, and two of
/// one record may overlap. An update of all fields reads nothing.
///
/// @param store the map
/// @param updates the part of a record that updates replace
public record MapRecords(OpenMap store, Updates updates) implements Records {
  /// Records whose updates replace some fields.
  MapRecords(OpenMap store) {
    this(store, Updates.ONE_FIELD);
  }

  @Override
  public void insert(String key, Map<String, byte[]> fields) throws Exception {
    store.put(key, encoded(fields));
  }

  @Override
  public Map<String, byte[]> read(String key) throws Exception {
    byte[] value = store.get(key);
    return value == null ? Map.of() : decoded(value);
  }

  @Override
  public void update(String key, Map<String, byte[]> fields) throws Exception {
    if (updates == Updates.WHOLE_RECORD) {
      insert(key, fields);
      return;
    }
    var all = new HashMap<>(read(key));
    all.putAll(fields);
    store.put(key, encoded(all));
  }

  /// Scans. The map has no order; see [NumberedKeys].
  @Override
  public int scan(String from, int most) throws Exception {
    int read = 0;
    for (byte[] value : store.getAll(NumberedKeys.from(from, most))) {
      if (!decoded(value).isEmpty()) read++;
    }
    return read;
  }

  private static byte[] encoded(Map<String, byte[]> fields) throws IOException {
    var bytes = new ByteArrayOutputStream(1_200);
    try (var out = new DataOutputStream(bytes)) {
      out.writeByte(fields.size());
      for (var field : fields.entrySet()) {
        out.writeUTF(field.getKey());
        out.writeShort(field.getValue().length);
        out.write(field.getValue());
      }
    }
    return bytes.toByteArray();
  }

  private static Map<String, byte[]> decoded(byte[] value) throws IOException {
    try (var in = new DataInputStream(new ByteArrayInputStream(value))) {
      int count = in.readByte();
      var fields = new HashMap<String, byte[]>(2 * count);
      for (int i = 0; i < count; i++) {
        String name = in.readUTF();
        fields.put(name, in.readNBytes(in.readUnsignedShort()));
      }
      return fields;
    }
  }
}
