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

/// Creates versions of the class [SimulatedTally].
public final class TallyVersions {
  private TallyVersions() {}

  /// Returns the class files of the version with a factor.
  public static Map<String, byte[]> version(int factor) {
    return Map.of(
        SimulatedTally.class.getName(),
        ClassFile.of()
            .transformClass(ClassFile.of().parse(file(SimulatedTally.class)), multiplying(factor)),
        SimulatedTally.Added.class.getName(),
        file(SimulatedTally.Added.class),
        SimulatedTally.Line.class.getName(),
        file(SimulatedTally.Line.class));
  }

  private static ClassTransform multiplying(int factor) {
    return (builder, element) -> {
      if (element instanceof MethodModel method && method.methodName().equalsString("factor")) {
        builder.withMethodBody(
            "factor",
            MethodTypeDesc.of(ConstantDescs.CD_int),
            method.flags().flagsMask(),
            code -> code.loadConstant(factor).ireturn());
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
