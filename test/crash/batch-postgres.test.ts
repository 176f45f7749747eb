import { stopBatches } from './batches.ts';

stopBatches('PostgreSQL');
