import * as brontosig from 'brontosig';
import * as brontide from 'brontosig/brontide';
import * as lightning from 'brontosig/lightning';
import * as musig2 from 'brontosig/musig2';
import { trial } from './trial.js';

/** How the trial ended: its result, or the error as text. */
export function outcome() {
  return trial(brontosig, musig2, brontide, lightning).catch(String);
}
