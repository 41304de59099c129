/** Every property draws from the seed of runs.ts, unless it names its own. */
import { configureGlobal } from 'fast-check';
import { SEED } from './runs.ts';

configureGlobal({ seed: SEED });
