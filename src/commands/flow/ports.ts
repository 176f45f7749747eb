import { hostname, userInfo } from 'node:os';
import type { CallbackListener, CallbackOptions } from '../../callback/listener.ts';
import type { LoggedGift } from '../../domain/embedded.ts';
import { isLoopback } from '../../domain/local-address.ts';
import { endSentence, Psd2Error } from '../../errors.ts';
import type { CustomerPorts, FlowPorts, KnownInitiation } from '../../flows/ports.ts';
import type { LoggedCall } from '../../store/machine/call-log.ts';
import { type Profile, redirectUriOf } from '../../store/machine/settings.ts';
import { cleanText } from '../../terminal/clean.ts';
import { writeTimeLeft } from '../../terminal/terminal.ts';
import type { Context, CustomerBank } from '../context.ts';
import { browserOf } from '../shared/browser.ts';
import { costAboveLimit, costAboveOwnLimit } from '../shared/cost-limit.ts';

/** The ports of a flow: the bank, the customer, the world, and what the log of calls knows. */
export function flowPortsOf(context: Context, { bank, profile }: CustomerBank): Required<FlowPorts> {
  return {
    bank,
    customer: customerPortsOf(context, profile),
    world: context.world,
    ...evidenceIn(context),
    refusesCost: ({ order, verification }) =>
      costAboveLimit(profile, order, verification) ?? costAboveOwnLimit(order, verification),
  };
}

/** Opens the customer's browser and waits for its return (command contract, "The callback listener"). */
export function customerPortsOf(context: Context, profile: Profile): CustomerPorts {
  const { globals, terminal, world } = context;
  const redirectUri = redirectUriOf(profile);
  let isListening = false;
  const wait = waitForBrowser(context);
  return {
    redirectUri,
    scaTimeoutMs: globals.scaTimeoutMs,
    atAnotherDevice: globals.qrCode,
    async listen(state, purpose) {
      const url = new URL(redirectUri);
      if (!isLoopback(url)) return null;
      const listener = await listenOrWait(context, { redirectUri: url, state, purpose });
      isListening = listener !== null;
      return listener;
    },
    async sendBrowser(url, psuId) {
      const { assertOpenable, openInBrowser } = await import('../../terminal/browser.ts');
      const address = assertOpenable(url).href;
      const browser = browserOf(context);
      terminal.tell(
        { event: 'open', url: address, ...(psuId !== undefined && { psuId }) },
        terminal.marked(`${whereToOpen(browser === 'none', psuId)}:\n  ${address}`),
      );
      if (globals.qrCode) await showQrCode(context, address);
      const hint = returnHint(context, new URL(redirectUri), isListening);
      if (hint) terminal.say(hint);
      const onFailure = wait.begin(browser);
      await openInBrowser(address, browser, onFailure);
    },
    whileWaiting(text, work, milliseconds) {
      if (milliseconds === undefined) return terminal.whileWaiting(text, work);
      const end = world.now().getTime() + milliseconds;
      const left = () => writeTimeLeft(end - world.now().getTime());
      return wait.during(terminal.whileWaiting(() => `${text} (${left()} left)`, work));
    },
  };
}

/**
 * The customer's time, which ends at once if the browser fails and nobody is there to open the address by hand (command contract,
 * "Settings of a profile and their environment"). A browser that fails once the customer has come back or decided changes nothing.
 */
function waitForBrowser({ interrupt, terminal }: Pick<Context, 'interrupt' | 'terminal'>) {
  let isAwaited = false;
  let isWaiting = false;
  let failure: Psd2Error | undefined;
  return {
    /** @returns what to do if the browser fails. The system's browser is no choice of the operator's, so psd2 waits on */
    begin(browser: string | undefined) {
      isAwaited = true;
      return (message: string, output: string): void => {
        if (terminal.canAsk || browser === undefined)
          terminal.warn(`${message} Open the address above by hand.`);
        else if (isAwaited) {
          failure = new Psd2Error('config', message.replace(/\.$/, ''), {
            hint: output === '' ? 'Check PSD2_BROWSER or BROWSER.' : endSentence(`It says: ${output}`),
          });
          if (isWaiting) interrupt(failure);
        }
      };
    },
    /** @throws what the work throws, or Psd2Error `config` if the browser has failed */
    async during<T>(work: Promise<T>): Promise<T> {
      isWaiting = true;
      if (failure) interrupt(failure);
      try {
        const result = await work;
        isAwaited = false;
        return result;
      } catch (error) {
        throw failure ?? error;
      } finally {
        isWaiting = false;
      }
    },
  };
}

/** How often a login checks whether the port is free. */
const LOOK_AGAIN_MS = 500;

/**
 * Listens for the callback. If another program, perhaps another psd2, has the port (command contract, "Side by side"), an
 * authorisation asks the bank for the decision instead. A login needs the callback, so it waits for the port.
 *
 * @returns null if psd2 can't wait for the browser
 * @throws Psd2Error `callback_port_busy` if the port is not free before the customer's time is over
 */
async function listenOrWait(
  { globals, terminal, world }: Context,
  callback: CallbackOptions,
): Promise<CallbackListener | null> {
  const { listenForCallback } = await import('../../callback/listener.ts');
  const { purpose, redirectUri } = callback;
  for (let waited = 0; ; waited += LOOK_AGAIN_MS) {
    try {
      return await listenForCallback(callback);
    } catch (error) {
      if (!(error instanceof Psd2Error) || error.code !== 'callback_port_busy') throw error;
      const portInUse = `The port of ${redirectUri.href} is in use, perhaps by another psd2.`;
      if (purpose === 'authorisation') {
        terminal.say(
          `${portInUse} psd2 asks the bank for the customer's decision instead of waiting for the browser.`,
        );
        return null;
      }
      if (waited >= globals.scaTimeoutMs) throw error;
      if (waited === 0)
        terminal.say(
          `${portInUse} The login waits its turn, at most ${globals.scaTimeoutMs / 1000} s. If another program has the port, end that, or interrupt this and add --paste.`,
        );
      await world.sleep(LOOK_AGAIN_MS);
    }
  }
}

/** @param psuId who authorises, as the bank was told */
function whereToOpen(byHand: boolean, psuId: string | undefined): string {
  const whose = psuId === undefined ? '' : ` (${cleanText(psuId)} authorises)`;
  return byHand ? `Open this address in the customer's browser${whose}` : `Opening in the browser${whose}`;
}

async function showQrCode({ terminal }: Context, address: string): Promise<void> {
  const { drawQrCode } = await import('../../terminal/qr-code.ts');
  const code = drawQrCode(address, terminal.size, terminal.colour);
  terminal.warn(code ?? 'The address is too long for a QR code in a terminal of this size.');
  if (isLoopback(new URL(address)))
    terminal.say('This address is on this computer, so a phone cannot open it.');
}

/** What the operator must know if the customer's browser is on another machine. */
function returnHint({ env, globals }: Context, redirectUri: URL, isListening: boolean): string | undefined {
  if (!isLoopback(redirectUri)) return undefined;
  if (globals.qrCode)
    return isListening
      ? 'A phone cannot return to this computer. With --paste you can enter the address that the phone shows in the end.'
      : 'At the end, the phone shows an address that it cannot open. That is harmless.';
  if (!isListening || !(env.SSH_CONNECTION || env.SSH_TTY)) return undefined;
  const { hostname: address, port, protocol } = redirectUri;
  const at = port || (protocol === 'https:' ? '443' : '80');
  return `The browser must return to this computer. If it runs on yours, run this there:\n  ssh -N -L ${at}:${address}:${at} ${userInfo().username}@${hostname()}`;
}

/** What the log of calls knows of a flow. It stays with the machine, so it may know more than a store that was restored. */
export function evidenceIn({
  folder,
  world,
}: Context): Required<Pick<FlowPorts, 'neverLeft' | 'hasSent' | 'initiated' | 'announces' | 'given'>> {
  /** The calls that mention an id, the newest first. */
  async function* calls(id: string): AsyncGenerator<LoggedCall> {
    const { readCalls } = await import('../../store/machine/call-log.ts');
    yield* readCalls(folder.log, id);
  }
  return {
    // psd2 logs this even if the store cannot be reached. The log only ever says so of a request that will never leave.
    async neverLeft(tppRequestId) {
      for await (const call of calls(tppRequestId))
        if (call.tppRequestId === tppRequestId) return call.neverLeft === true;
      return false;
    },
    initiated: (transactionId) => initiationsIn(folder.log, transactionId),
    given: (transactionId) => giftsIn(folder.log, transactionId),
    async announces({ requestId: announced, transactionId, gives }) {
      const { CallLog } = await import('../../store/machine/call-log.ts');
      const log = new CallLog(folder.log);
      try {
        log.announce({ at: world.now().toISOString(), announced, transactionId, ...(gives && { gives }) });
      } catch {
        // The line of the call warns of it. Without this one, psd2 initiates nothing again by itself, and asks the bank before a TAN.
      } finally {
        log.close();
      }
    },
    async hasSent(transactionId) {
      for await (const call of calls(transactionId))
        if (call.transactionId === transactionId && call.irrevocable && !call.neverLeft) return true;
      return false;
    },
  };
}

/** What the log of calls has of the initiations of a flow. */
async function initiationsIn(log: string, transactionId: string): Promise<KnownInitiation> {
  const { readTransaction } = await import('../../store/machine/call-log.ts');
  let answer: 'lost' | 'no' = 'no';
  const refused: string[] = [];
  const announced: string[] = [];
  const ended: string[] = [];
  for (const line of readTransaction(log, transactionId)) {
    if (line.gives) continue;
    if ('announced' in line) {
      announced.push(line.announced);
      // psd2 was killed before it wrote the call down.
      if (!ended.includes(line.announced)) answer = 'lost';
      continue;
    }
    if (!line.irrevocable) continue;
    const { verdict, begun = null, tppRequestId } = line;
    // The newest line of an attempt comes first, and was judged together with the older ones.
    const isProven = ended.includes(tppRequestId) && refused.includes(tppRequestId);
    ended.push(tppRequestId);
    if (line.neverLeft) continue;
    if (verdict === 'began' || begun !== null) return { answer: 'answered', resourceId: begun };
    // Any other answer may be one of several, and so may one that an older psd2 wrote down without what it proves.
    if (verdict === 'nothing began') refused.push(tppRequestId);
    else if (!(verdict === 'ask again' && isProven)) answer = 'lost';
  }
  return { answer, refused, announced };
}

/** What the log of calls has of what customers gave psd2 for a flow, the oldest first. What never left is none. */
async function giftsIn(log: string, transactionId: string): Promise<LoggedGift[]> {
  const { readTransaction } = await import('../../store/machine/call-log.ts');
  const gifts = new Map<string, LoggedGift>();
  const unsent = new Set<string>();
  for (const line of readTransaction(log, transactionId)) {
    if (!line.gives) continue;
    const requestId = 'announced' in line ? line.announced : line.tppRequestId;
    if ('neverLeft' in line) unsent.add(requestId);
    // The oldest line of each says when it left.
    gifts.delete(requestId);
    if (!unsent.has(requestId)) gifts.set(requestId, { requestId, ...line.gives });
  }
  return [...gifts.values()].reverse();
}
