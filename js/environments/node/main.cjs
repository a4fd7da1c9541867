const { trial } = require('./trial.js');

trial(
  require('brontosig'),
  require('brontosig/musig2'),
  require('brontosig/brontide'),
  require('brontosig/lightning'),
).then(console.log, console.log);
