/** A limit on how long something may take, which Ctrl-C can end earlier. */
export interface TimeLimit {
  /** Aborts when the time is over, or with the given signal. */
  readonly signal: AbortSignal;
  /** Whether the time was over before the given signal aborted. */
  isOver(): boolean;
  /** Ends the timer. Call it as soon as the limit no longer matters. */
  clear(): void;
}

/**
 * Begins a limit of this many milliseconds. The timer itself does not keep the process alive.
 *
 * `AbortSignal.any([signal, AbortSignal.timeout(ms)])` must not be used for this: Node.js may collect the timeout as
 * garbage, and then the limit never comes (nodejs/node#57736). Here the timer holds what it ends.
 *
 * @param signal aborts the limit's signal too, with its own reason
 */
export function beginTimeLimit(milliseconds: number, signal?: AbortSignal): TimeLimit {
  const controller = new AbortController();
  let isOver = false;
  const timer = setTimeout(() => {
    isOver = !controller.signal.aborted;
    controller.abort(new DOMException('The time is over', 'TimeoutError'));
  }, milliseconds).unref();
  const follow = () => controller.abort(signal?.reason);
  if (signal?.aborted) follow();
  else signal?.addEventListener('abort', follow, { once: true });
  return {
    signal: controller.signal,
    isOver: () => isOver,
    clear() {
      clearTimeout(timer);
      signal?.removeEventListener('abort', follow);
    },
  };
}
