import brontosig = require('brontosig');
import brontide = require('brontosig/brontide');
import lightning = require('brontosig/lightning');
import musig2 = require('brontosig/musig2');
import trial = require('./trial.js');

void trial.trial(brontosig, musig2, brontide, lightning).then((text: string) => {
  console.log(text);
});
