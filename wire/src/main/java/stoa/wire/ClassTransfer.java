package stoa.wire;

import com.google.protobuf.ByteString;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.zip.DeflaterOutputStream;
import java.util.zip.InflaterInputStream;
import stoa.LimitExceeded;
import stoa.wire.proto.ClassFile;

/// How class files travel, and how many of them. One owner gathers them.
public final class ClassTransfer {
  /// The most class files in one request.
  public static final int FILES_MAX = 16_384;

  /// The most bytes that the class files of one request take, before they are deflated and together
  /// with their names.
  public static final int BYTES_MAX = 64 << 20;

  /// The most bytes that the class files of one message gather before the next message begins.
  public static final int PART_BYTES_AIM = 1 << 20;

  private final Map<String, byte[]> files = new HashMap<>();
  private long bytes;

  /// Begins with none.
  public ClassTransfer() {}

  /// Takes in a class file.
  ///
  /// @throws LimitExceeded when it is one too many, or too large with the others
  /// @throws IllegalArgumentException when it is damaged, or came before
  public void add(ClassFile file) {
    if (files.size() >= FILES_MAX) {
      throw new LimitExceeded(
          "more than " + FILES_MAX + " class files are sent at a time; send fewer types at a time");
    }
    long left = BYTES_MAX - bytes - file.getName().length();
    byte[] inflated = inflated(file, left);
    bytes += file.getName().length() + inflated.length;
    if (files.put(file.getName(), inflated) != null) {
      throw new IllegalArgumentException("the class " + file.getName() + " is sent twice");
    }
  }

  private static byte[] inflated(ClassFile file, long bytesMax) {
    var out = new ByteArrayOutputStream(3 * file.getDeflated().size());
    var buffer = new byte[8 << 10];
    try (var in = new InflaterInputStream(file.getDeflated().newInput())) {
      for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
        if (out.size() + n > bytesMax) {
          throw new LimitExceeded(
              "the class files take more than "
                  + BYTES_MAX
                  + " bytes together; send fewer types at a time");
        }
        out.write(buffer, 0, n);
      }
    } catch (IOException damaged) {
      throw new IllegalArgumentException(
          "the class file of " + file.getName() + " is damaged: " + damaged.getMessage(), damaged);
    }
    return out.toByteArray();
  }

  /// Returns the received files, by the binary names of the classes.
  public SortedMap<String, byte[]> files() {
    return new TreeMap<>(files);
  }

  /// Divides class files into what goes into one message each.
  ///
  /// @param files by the binary names of their classes
  public static List<List<ClassFile>> parts(SortedMap<String, byte[]> files) {
    var parts = new ArrayList<List<ClassFile>>();
    var part = new ArrayList<ClassFile>();
    long bytes = 0;
    for (var file : files.entrySet()) {
      ClassFile deflated = deflated(file.getKey(), file.getValue());
      if (bytes > 0 && bytes + deflated.getSerializedSize() > PART_BYTES_AIM) {
        parts.add(List.copyOf(part));
        part.clear();
        bytes = 0;
      }
      part.add(deflated);
      bytes += deflated.getSerializedSize();
    }
    if (!part.isEmpty()) parts.add(List.copyOf(part));
    return parts;
  }

  /// A class file as it travels.
  ///
  /// @param name the binary name of the class
  public static ClassFile deflated(String name, byte[] file) {
    var out = new ByteArrayOutputStream(file.length / 2);
    try (var deflater = new DeflaterOutputStream(out)) {
      deflater.write(file);
    } catch (IOException impossible) {
      throw new UncheckedIOException(impossible);
    }
    var deflated = ByteString.copyFrom(out.toByteArray());
    return ClassFile.newBuilder().setName(name).setDeflated(deflated).build();
  }
}
