import { Socket } from 'node:net';
import { beforeEach, expect, it, onTestFinished, vi } from 'vitest';

const described = Object.getOwnPropertyDescriptor(process, 'stderr') ?? {};
let opened: Socket[];

beforeEach(() => {
  opened = [];
  vi.resetModules();
  onTestFinished(() => {
    Object.defineProperty(process, 'stderr', described);
  });
});

/** A stderr that is opened when it is read for the first time, as Node.js has it. */
function useStderr(descriptor: PropertyDescriptor): void {
  Object.defineProperty(process, 'stderr', { configurable: true, enumerable: true, ...descriptor });
}
const opensLate = () => {
  useStderr({
    get() {
      opened[0] ??= new Socket();
      return opened[0];
    },
  });
};

const watch = async () => (await import('../../src/cli/report-error.ts')).watchStderr;

it('a stderr without a reader is no error, and is opened only when something is written to it', async () => {
  opensLate();
  const watchStderr = await watch();
  watchStderr();
  watchStderr();
  expect(opened).toEqual([]);
  const { stderr } = process;
  expect(stderr).toBe(opened[0]);
  expect(process.stderr).toBe(stderr);
  expect(stderr.listenerCount('error')).toBe(1);
  expect(() => stderr.emit('error', new Error('EPIPE'))).not.toThrow();
});

it('a stderr that is open already stays as it is', async () => {
  const socket = new Socket();
  useStderr({ value: socket, writable: true });
  (await watch())();
  expect(process.stderr).toBe(socket);
  expect(socket.listenerCount('error')).toBe(0);
});
