/** Of localhost, signed by itself, for a hundred years. It protects nothing: it stands here for all to read. */
export const localhostCertificate = {
  cert: `-----BEGIN CERTIFICATE-----
MIIBnDCCAUGgAwIBAgIUBdjOG+G+b0bNJ8R2tKnRf/Mo8B4wCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyODA5MDE1N1oYDzIxMjYxMTA0
MDkwMTU3WjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAATALSwyTanDOPOgZVsoBDkwPPpdbpU36MZo+AZrcIzYrVgBN1FcSdBe
YerMRb/O2ExGlmAasshm2r8FJm7JMfcQo28wbTAdBgNVHQ4EFgQUZZ3loAAyHHi0
q2XwrLIGwp4/cIgwHwYDVR0jBBgwFoAUZZ3loAAyHHi0q2XwrLIGwp4/cIgwDwYD
VR0TAQH/BAUwAwEB/zAaBgNVHREEEzARgglsb2NhbGhvc3SHBH8AAAEwCgYIKoZI
zj0EAwIDSQAwRgIhAO9i5F8sGno5uPGg+iLALkd0Eh4p/Rtou78uSyWyQfYoAiEA
8Lgj5am6swd0Yolo/oG0ybyemwkR7iI88JwUCscMinI=
-----END CERTIFICATE-----`,
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgdmoLbZ2xCN0hyEVt
aMSgXZgaiS+YGCsOEjX55WzQ+FuhRANCAATALSwyTanDOPOgZVsoBDkwPPpdbpU3
6MZo+AZrcIzYrVgBN1FcSdBeYerMRb/O2ExGlmAasshm2r8FJm7JMfcQ
-----END PRIVATE KEY-----`,
} as const;
