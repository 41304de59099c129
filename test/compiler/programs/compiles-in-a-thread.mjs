/** A worker thread that compiles the turns it is given, twice, and answers with both. */
import { parentPort, workerData } from 'node:worker_threads';
import { compileSteer, compileTurn } from '../../../dist/compiler/index.js';

const compileAll = () => workerData.map((input) => JSON.stringify([compileTurn(input), compileSteer(input)]));
parentPort.postMessage([compileAll(), compileAll()]);
