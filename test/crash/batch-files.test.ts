import { stopBatches } from './batches.ts';

stopBatches('files');
