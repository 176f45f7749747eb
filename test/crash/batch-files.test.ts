import { stopBatches } from './batch.ts';

stopBatches('files');
