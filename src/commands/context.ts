import type { WorldPorts } from '../flows/ports.ts';
import type { GrantType } from '../store/files/tokens.ts';
import type { StoreFolder } from '../store/machine/folder.ts';
import type { ProfileStore } from '../store/machine/profiles.ts';
import type { Environment } from '../store/machine/settings.ts';
import type { Output } from '../terminal/output.ts';
import type { Terminal } from '../terminal/terminal.ts';

/** The global options, after option, environment and default were weighed. */
export interface Globals {
  profile: string | undefined;
  customer: string | undefined;
  grant: GrantType;
  /** Give the confirmations that a command would ask for. */
  yes: boolean;
  verbose: boolean;
  /** Print the bank's own answers, byte for byte. */
  raw: boolean;
  /** Show the address for the customer, open nothing. */
  noBrowser: boolean;
  /** Show it as a QR code besides. */
  qrCode: boolean;
  timeoutMs: number;
  scaTimeoutMs: number;
  psuIpAddress: string | undefined;
  language: string | undefined;
  /** The component of `CB-Trace-Id`. */
  traceComponent: string | undefined;
}

/** Where a value comes from (command contract, "Precedence"). */
export type Source = 'option' | 'environment' | 'profile' | 'default';

/** What every command runs with. The dear things (certificates, connection, tokens) are opened by those that need them. */
export interface Context {
  globals: Globals;
  /** Where the value of a global option comes from. */
  sourceOf(option: 'profile' | 'timeout' | 'scaTimeout' | 'psuIp' | 'lang' | 'trace'): Source;
  env: Environment;
  folder: StoreFolder;
  profiles: ProfileStore;
  /** The flows that this command has opened or begun, by their transaction id. */
  openFlows: Map<string, string>;
  terminal: Terminal;
  output: Output;
  /** Writes bytes of the bank to stdout as they are. */
  printBytes(bytes: Uint8Array): void;
  stdoutIsTerminal: boolean;
  /** The terminal's width in cells, where stdout is one that knows it. */
  stdoutColumns: number | undefined;
  world: WorldPorts & { random: () => number };
  /** Standard input as one text. */
  readStdin(): Promise<string>;
  /** Runs when the command has ended, well or not. */
  onEnd(close: () => Promise<void>): void;
}
