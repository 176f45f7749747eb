import { beforeEach, onTestFinished, vi } from 'vitest';
import type { RawGlobals } from '../../src/cli/globals.ts';
import { runCommand } from '../../src/cli/run.ts';
import type { Context } from '../../src/commands/context.ts';
import type { CommandKind } from '../../src/commands/declare.ts';
import { newConfigFolder, temporaryFolder } from '../store/temporary-folder.ts';

const RAW: RawGlobals = {
  grant: 'authorization_code',
  input: true,
  timeout: '30',
  browser: true,
  scaTimeout: '300',
  color: true,
};

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Commands in the tests' own process, each with an empty configuration folder. Undoes what they do to the process. */
export function useCommands() {
  const temporary = temporaryFolder();
  let said = '';

  beforeEach(() => {
    said = '';
    vi.stubEnv('PSD2_CONFIG_DIR', newConfigFolder(temporary).root);
    vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
      said += text;
      return true;
    });
    const { exitCode } = process;
    // A listener that stayed would write Node's warnings into the output of a later test.
    const warned = process.listeners('warning');
    // The tests send signals to the command alone. `when-exit`, which psd2's bundle leaves out, would send them again.
    const listeners = SIGNALS.map((signal) => process.listeners(signal));
    for (const signal of SIGNALS) process.removeAllListeners(signal);
    onTestFinished(() => {
      process.exitCode = exitCode;
      process.removeAllListeners('warning');
      for (const listener of warned) process.on('warning', listener);
      SIGNALS.forEach((signal, index) => {
        process.removeAllListeners(signal);
        for (const listener of listeners[index] ?? []) process.on(signal, listener);
      });
      vi.restoreAllMocks();
      vi.unstubAllEnvs();
    });
  });

  return {
    /** Runs a command to its end. Its exit code is `process.exitCode`. */
    run: async (
      command: (context: Context) => Promise<void>,
      options: Partial<RawGlobals> = {},
      kind?: CommandKind,
    ) => {
      // psd2 turns every error into a message and an exit code, also that of a test.
      let failed: { expectation: unknown } | undefined;
      const watched = async (context: Context) => {
        try {
          await command(context);
        } catch (error) {
          if (error instanceof Error && error.name === 'AssertionError') failed = { expectation: error };
          throw error;
        }
      };
      await runCommand({ ...RAW, ...options }, watched, kind, () => 'default');
      if (failed) throw failed.expectation;
    },
    /** The text written to stderr in this test. */
    said: () => said,
  };
}
