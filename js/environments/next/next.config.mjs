export default {
  serverExternalPackages: ['brontosig'],
};
