import * as brontosig from 'brontosig';
import * as brontide from 'brontosig/brontide';
import * as lightning from 'brontosig/lightning';
import * as musig2 from 'brontosig/musig2';
import { trial } from './trial.js';

const text: string = await trial(brontosig, musig2, brontide, lightning);
console.log(text);
