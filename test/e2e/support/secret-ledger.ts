import { chmodSync, existsSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as z from 'zod';
import { entriesBelow } from '../../../src/store/disk/files.ts';
import { CLOCK_OF_RUN } from '../../support/shift-clock.ts';
import { findSecrets, keysIn, type Secret, secretOf, type Trace } from './secret-search.ts';

type Environment = Record<string, string | undefined>;
/** A line that secrets-recorder.cjs writes. */
const noted = z.union([
  z.object({ kind: z.string(), value: z.string() }),
  z.object({ argv: z.array(z.string()), config: z.optional(z.string()) }),
]);

interface Printed {
  args: string[];
  stdout: string;
  stderr: string;
}

/** Loaded by every Node.js process, to record its secrets. `--import` would load more than psd2 does. */
const RECORDER = fileURLToPath(new URL('secrets-recorder.cjs', import.meta.url));

/** The options of a Node.js process that records its secrets. @param others its own options */
export function recordingOptions(others = ''): string {
  return [`--require="${RECORDER}"`, ...CLOCK_OF_RUN, others].join(' ');
}

/** The folder of files that the operator made by hand, such as unusual keys. It is not searched. */
export const OWN_HANDS = 'own-hands';

/** The folders of a configuration folder in which secrets belong. */
const SECRET_FOLDERS = ['profiles', 'tokens', 'sandbox'];
/** Commands whose output is a secret. */
const TELLING = /\b(auth token|sandbox env)\b/;
/** Whoever plays the sandbox's customer is told where a browser would go, with the code, if nobody listens there. */
const WAY_OF_BROWSER = /^A browser would go to http.*$/m;

/** Records all secrets of one operator, and where they belong. */
export interface SecretLedger {
  /** Records the arguments and variables of a process. @returns the environment in which it reports its secrets */
  watched(args: string[], env: Environment): Environment;
  /** Records what is typed after `before` was printed. */
  typed(args: string[], text: string, before: string): void;
  secrets(): Secret[];
  /** The places, in what was printed and in all files of the operator, with secrets that do not belong there. */
  leaks(history: readonly Printed[]): string[];
  close(): void;
}

/** @param folder of the operator, with everything that is stored. @param config the configuration folder in it */
export function openLedger(folder: string, config: string): SecretLedger {
  const record = `${folder}.secrets`;
  // A test may run psd2 as another user.
  writeFileSync(record, '');
  chmodSync(record, 0o666);
  const given: Secret[] = [];
  const secretFiles = new Set<string>();
  /** The folders into which `cert generate` and `cert request` put keys, by option or by default. */
  const madeFolders = new Set<string>();
  const configFolders = new Set([config, join(folder, 'home', '.config', 'psd2')]);

  const recorded = () =>
    (existsSync(record) ? readFileSync(record, 'utf8').split('\n') : []).flatMap((line) =>
      // A line without its end was cut short by a test that limits the size of files.
      line.endsWith('}') ? [noted.parse(JSON.parse(line))] : [],
    );
  const files = () =>
    entriesBelow(folder)
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => join(parentPath, name));
  /** The places where psd2 keeps secrets, by default or because a variable says so. */
  const secretPlaces = () => {
    const told = recorded().flatMap((line) => ('argv' in line && line.config ? [line.config] : []));
    return [...configFolders, ...told].flatMap((each) => SECRET_FOLDERS.map((name) => join(each, name, sep)));
  };

  return {
    watched(args, env) {
      if (env.PSD2_CONFIG_DIR) configFolders.add(resolve(folder, env.PSD2_CONFIG_DIR));
      for (const [name, value = ''] of Object.entries(env)) {
        if (/(SECRET|PASSPHRASE)$/.test(name)) given.push(...secretOf(`value of ${name}`, value));
        if (/(_KEY|_CERT|SECRET_FILE)$/.test(name) && value) secretFiles.add(resolve(folder, value));
      }
      args.forEach((word, index) => {
        const value = args[index + 1];
        if (/^--.*(-key|-secret-file)$/.test(word) && value) secretFiles.add(resolve(folder, value));
        if (/\.(pem|p12|pfx|der)$/.test(word)) secretFiles.add(resolve(folder, word));
        if (word === '--out' && value && (args.includes('generate') || args.includes('request')))
          madeFolders.add(resolve(folder, value, '_').slice(0, -1));
      });
      if (args.includes('generate')) madeFolders.add(join(folder, 'test-certificates', sep));
      return {
        ...env,
        SECRETS_RECORD: record,
        NODE_OPTIONS: recordingOptions(env.NODE_OPTIONS),
      };
    },
    typed(args, text, before) {
      const isSecret = args.some((word) => /-stdin$/.test(word)) || ASKS_FOR_SECRET.test(before);
      if (isSecret) given.push(...secretOf('typed secret', text.trim()));
    },
    secrets() {
      const passed = recorded().flatMap((line) => ('kind' in line ? secretOf(line.kind, line.value) : []));
      const keys = files().flatMap((path) => keysIn(readFileSync(path, 'latin1')));
      const all = [...given, ...passed, ...keys];
      return [...new Map(all.map((secret) => [secret.bytes.toString('latin1'), secret])).values()];
    },
    leaks(history) {
      const belonging = [...secretPlaces(), ...madeFolders, join(folder, OWN_HANDS, sep)];
      const meant = new Set([...secretFiles, ...linkedFrom(folder, belonging)]);
      const traces: Trace[] = [
        ...history.flatMap(({ args, stdout, stderr }) => {
          const command = args.join(' ');
          const said = command.includes('sandbox customer ') ? stderr.replace(WAY_OF_BROWSER, '') : stderr;
          return [
            ...(TELLING.test(command)
              ? []
              : [{ where: `stdout of ${command}`, content: Buffer.from(stdout) }]),
            { where: `stderr of ${command}`, content: Buffer.from(said) },
            { where: 'the arguments of a program', content: Buffer.from(args.join('\0')) },
          ];
        }),
        ...recorded()
          .flatMap((line) => ('argv' in line ? [line.argv.join('\0')] : []))
          .map((argv) => ({ where: 'the arguments of a process', content: Buffer.from(argv) })),
        ...files()
          .filter((path) => !meant.has(path) && !belonging.some((place) => path.startsWith(place)))
          .map((path) => ({ where: relative(folder, path), content: readFileSync(path) })),
      ];
      return findSecrets(this.secrets(), traces);
    },
    close: () => rmSync(record, { force: true }),
  };
}

/** The targets of the links in some folders below `root`. */
function linkedFrom(root: string, places: string[]): string[] {
  return entriesBelow(root)
    .filter((entry) => entry.isSymbolicLink())
    .map(({ parentPath, name }) => join(parentPath, name))
    .filter((path) => places.some((place) => path.startsWith(place)))
    .map((path) => resolve(dirname(path), readlinkSync(path)));
}

/** The question that was asked last. */
const ASKS_FOR_SECRET = /(?:secret|passphrase|the same once more)[^\n]*$/i;
