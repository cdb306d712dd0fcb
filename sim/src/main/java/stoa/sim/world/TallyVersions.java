package stoa.sim.world;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassTransform;
import java.lang.classfile.MethodModel;
import java.lang.constant.ConstantDescs;
import java.lang.constant.MethodTypeDesc;
import java.util.Map;
import java.util.Objects;

/// Creates versions of the classes [SimulatedTally], [SimulatedSheet], [SimulatedBell] and
/// [SimulatedSpark].
public final class TallyVersions {
  private TallyVersions() {}

  /// Returns the class files of the version with a factor.
  public static Map<String, byte[]> version(int factor) {
    return Map.of(
        SimulatedTally.class.getName(),
        returning(SimulatedTally.class, "factor", factor),
        SimulatedTally.Added.class.getName(),
        file(SimulatedTally.Added.class),
        SimulatedTally.Line.class.getName(),
        file(SimulatedTally.Line.class));
  }

  /// Returns the class file of the version of [SimulatedSheet] that shifts rows.
  public static Map<String, byte[]> sheet(int shift) {
    return Map.of(SimulatedSheet.class.getName(), returning(SimulatedSheet.class, "shift", shift));
  }

  /// Returns the class files of a version of [SimulatedBell].
  public static Map<String, byte[]> bell(int number) {
    return Map.of(
        SimulatedBell.class.getName(),
        returning(SimulatedBell.class, "build", number),
        SimulatedBell.Ring.class.getName(),
        file(SimulatedBell.Ring.class));
  }

  /// Returns the class file of a version of [SimulatedSpark].
  public static Map<String, byte[]> spark(int number) {
    return Map.of(SimulatedSpark.class.getName(), returning(SimulatedSpark.class, "build", number));
  }

  /// Returns a class file of a class in which a method without parameters returns a number.
  static byte[] returning(Class<?> type, String name, int number) {
    return ClassFile.of().transformClass(ClassFile.of().parse(file(type)), returning(name, number));
  }

  private static ClassTransform returning(String name, int number) {
    return (builder, element) -> {
      if (element instanceof MethodModel method && method.methodName().equalsString(name)) {
        builder.withMethodBody(
            name,
            MethodTypeDesc.of(ConstantDescs.CD_int),
            method.flags().flagsMask(),
            code -> code.loadConstant(number).ireturn());
      } else {
        builder.with(element);
      }
    };
  }

  private static byte[] file(Class<?> type) {
    String name = type.getName().substring(type.getPackageName().length() + 1) + ".class";
    try (InputStream in = Objects.requireNonNull(type.getResourceAsStream(name))) {
      return in.readAllBytes();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
