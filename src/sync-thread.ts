import { parentPort, workerData } from 'node:worker_threads';
import { syncThread } from './cli/sync-thread.ts';

// A further thread of psd2 sync, started by commands/sync-threads.ts.
if (parentPort) void syncThread(workerData, parentPort);
