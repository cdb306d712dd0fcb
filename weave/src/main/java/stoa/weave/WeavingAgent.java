package stoa.weave;

import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.lang.ref.WeakReference;
import java.security.ProtectionDomain;
import java.util.Arrays;
import java.util.Map;
import java.util.WeakHashMap;
import org.jspecify.annotations.Nullable;
import stoa.spi.ClassWeaver;

/// The Java agent: `java -javaagent:stoa-weave.jar`, with stoa-api on the class path. It weaves
/// `new` and static fields as [stoa.Shared] describes into all classes that the program loads, see
/// [SharedUses]. A method that cannot be woven throws, and the agent names it on the error output.
public final class WeavingAgent implements ClassFileTransformer, ClassWeaver.Agent {
  private final Map<ClassLoader, SharedUses> uses = new WeakHashMap<>();

  private WeavingAgent() {}

  /// Begins to weave. The virtual machine calls it before the program.
  public static void premain(@Nullable String arguments, Instrumentation instrumentation) {
    var agent = new WeavingAgent();
    ClassWeaver.Agent.begin(agent);
    instrumentation.addTransformer(agent);
  }

  @Override
  public byte[] woven(ClassLoader loader, byte[] classFile) {
    return of(loader).weave(classFile);
  }

  private SharedUses of(ClassLoader loader) {
    synchronized (uses) {
      return uses.computeIfAbsent(
          loader, one -> new SharedUses(files(new WeakReference<>(one)), System.err::println));
    }
  }

  /// Returns the files of a loader, which the garbage collector may remove.
  private static FilesOfClasses files(WeakReference<ClassLoader> loader) {
    return name -> {
      ClassLoader present = loader.get();
      return present == null ? null : present.getResourceAsStream(name);
    };
  }

  @Override
  public byte @Nullable [] transform(
      @Nullable ClassLoader loader,
      @Nullable String className,
      @Nullable Class<?> redefined,
      ProtectionDomain domain,
      byte[] classFile) {
    if (loader == null
        || className == null
        || loader instanceof ClassWeaver.Exact
        || loader.equals(ClassLoader.getPlatformClassLoader())
        || SharedNames.isPlatform(className)
        || className.startsWith("stoa/weave/")
        || className.startsWith("stoa/spi/")) {
      return null;
    }
    try {
      byte[] woven = woven(loader, classFile);
      return Arrays.equals(woven, classFile) ? null : woven;
    } catch (RuntimeException | LinkageError failed) {
      System.err.println(className.replace('/', '.') + " cannot be woven: " + failed);
      return null;
    }
  }
}
